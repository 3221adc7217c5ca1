/** One measured figure. */
export interface Row {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Against what the row before, or the one its name tells, measured in the same run. */
  readonly ratio?: number
  /** What the ratio should reach, or where there is none the value should stay below. */
  readonly target?: number
}
