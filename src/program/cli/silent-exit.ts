/** Ends a command with exit code 1 without a message: its output is enough. */
export class SilentExit extends Error {}
