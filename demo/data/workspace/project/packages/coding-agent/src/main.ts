// The program: reads the theme, draws the conversation.
