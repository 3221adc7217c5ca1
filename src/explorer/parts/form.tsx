import type { ComponentChildren } from 'preact'

/** Forms of one line: fields, then the button that submits them. */

export function LineForm({
  button,
  main = false,
  submit,
  children,
}: {
  button: string
  /** Whether it is the first thing to do with its panel. */
  main?: boolean
  submit(): void
  children: ComponentChildren
}) {
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {children}
      <button class={main ? 'main' : undefined} type="submit">
        {button}
      </button>
    </form>
  )
}

/** A field between two texts; the rest are attributes of its element. */
export function Field({ before, after, set, ...attributes }: FieldRow & Attributes) {
  // The type of an element allows one value of `type` alone.
  const rest: object = attributes
  return (
    <label>
      {before} <input {...rest} onInput={(event) => set(event.currentTarget.value)} />
      {after !== undefined && ` ${after}`}
    </label>
  )
}

/** A number that is counted from 1. */
export function CountField({ most, ...row }: FieldRow & { readonly most?: number }) {
  return <Field {...row} class="short" type="number" min="1" required {...(most !== undefined && { max: most })} />
}

interface FieldRow {
  readonly before: string
  readonly after?: string
  readonly value: string
  set(value: string): void
}

interface Attributes {
  readonly class?: 'short' | 'address'
  readonly type?: 'number' | 'datetime-local'
  readonly inputMode?: 'decimal'
  readonly placeholder?: string
  readonly required?: boolean
  readonly step?: string
  readonly min?: string
  readonly max?: number
}
