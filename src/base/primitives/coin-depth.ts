/**
 * Blocks from the state whose coins a block commits to up to that block. No reorganisation is deeper: the state stands still while nodes
 * hash it, and they have the time of so many blocks to do so.
 */
export const coinDepth = 288
