import type { ComponentChildren, InputHTMLAttributes } from 'preact'

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

/** An input that hands on its text; the rest are attributes of its element. */
export function Input({ set, ...attributes }: Attributes & { set(value: string): void }) {
  // The type of an element allows one value of `type` alone.
  const rest: object = attributes
  return <input {...rest} onInput={(event) => set(event.currentTarget.value)} />
}

/** An input between two texts. */
export function Field({ before, after, ...input }: FieldRow & Attributes) {
  return (
    <label>
      {before} <Input {...input} />
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

type Attributes = Omit<InputHTMLAttributes<HTMLInputElement>, 'onInput'>
