"""The first bytes of media files, as base64 text."""

from base64 import b64encode


def base64_of(data: bytes) -> str:
    return b64encode(data).decode()


def png(width: int, height: int, *, behind: int = 0) -> str:
    sides = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return base64_of(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + sides + b"\x08\x06" + bytes(behind))


def gif(width: int, height: int) -> str:
    return base64_of(b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little"))


def jpeg(width: int, height: int, *, metadata: int = 0) -> str:
    """A baseline JPEG behind a segment of `metadata` bytes and a fill byte."""
    segment = b"\xff\xe1" + (metadata + 2).to_bytes(2, "big") + b"\xff" * metadata
    sides = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    return base64_of(b"\xff\xd8" + segment + b"\xff\xff\xc0\0\x11\x08" + sides + b"\x03")


def webp(kind: bytes, body: bytes) -> str:
    return base64_of(b"RIFF\0\0\0\0WEBP" + kind + body)


def webp_extended(width: int, height: int) -> str:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return webp(b"VP8X", bytes(8) + sides)


def webp_lossless(width: int, height: int) -> str:
    bits = (width - 1) | (height - 1) << 14
    return webp(b"VP8L", bytes(4) + b"\x2f" + bits.to_bytes(4, "little"))


def webp_lossy(width: int, height: int) -> str:
    sides = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return webp(b"VP8 ", bytes(10) + sides)


def wave(seconds: int, bytes_per_second: int = 16_000) -> str:
    """A WAV file of this length, its header counted as sound."""
    rate = bytes_per_second.to_bytes(4, "little")
    header = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0" + rate
    return base64_of(header + bytes(seconds * bytes_per_second - len(header)))


def pdf(tree: bytes, *, before: int = 0, behind: int = 0) -> str:
    return base64_of(b"%PDF-1.7\n" + b"x" * before + tree + b"y" * behind)
