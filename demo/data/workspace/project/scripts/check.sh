#!/bin/sh
# Runs the checks of every package.
exec npm run check
