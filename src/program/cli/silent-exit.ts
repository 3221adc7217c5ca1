/** Ends a command with exit code 1 without a message: its output says all. */
export class SilentExit extends Error {}
