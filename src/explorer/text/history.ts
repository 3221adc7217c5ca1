import { whole } from './numbers.js'

/** Words for what a node lacks that took the state of a block from others. Pure. */

/** Heights as `getchaininfo` has them; `joined` is undefined of a node that has all of its chain. */
export interface JoinedHeights {
  readonly joined?: number | undefined
  /** Blocks up to here were verified since. */
  readonly verified?: number | undefined
}

/** How far such a node is: `state of height 42 taken and checked; 41 % of the blocks below verified`. */
export function historyText({ joined, verified = 0 }: JoinedHeights): string | undefined {
  if (joined === undefined) return undefined
  const share = Math.floor((100 * verified) / Math.max(1, joined))
  return `state of height ${whole(joined)} taken and checked; ${share} % of the blocks below verified`
}

/** Why such a node does not have what a page asked for. */
export function lackText(heights: JoinedHeights): string | undefined {
  const far = historyText(heights)
  return far === undefined ? undefined : `This node does not have that yet, since it lies too far back: ${far}.`
}

/** Why a list ends above the first block. */
export function endText(height: number): string {
  return `The list ends here: this node took the state of block ${whole(height)}, and does not have what lies below yet.`
}

/** Why a list lacks transactions of DIDs. */
export function givenUpText(height: number): string {
  return `Not listed are transactions whose documents were superseded up to height ${whole(height)}: this node gave them up.`
}
