import type { Static, TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value, type ValueErrorIterator } from '@sinclair/typebox/value'

/** A schema that values are held against. */
export interface SchemaCheck<T extends TSchema> {
  readonly schema: T
  holds(value: unknown): value is Static<T>
  faults(value: unknown): ValueErrorIterator
}

/** The check of a schema, compiled to code; where Node forbids code from text, read anew for each value. */
export function schemaCheck<T extends TSchema>(schema: T): SchemaCheck<T> {
  const faults = (value: unknown) => Value.Errors(schema, value)
  try {
    const compiled = TypeCompiler.Compile(schema)
    return { schema, holds: (value): value is Static<T> => compiled.Check(value), faults }
  } catch (error) {
    if (!(error instanceof EvalError)) throw error
    return { schema, holds: (value): value is Static<T> => Value.Check(schema, value), faults }
  }
}
