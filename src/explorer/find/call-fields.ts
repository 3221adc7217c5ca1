/** Turns what is typed into the fields of a call into its parameters. Pure. */

export interface Field {
  readonly name: string
  readonly description: string
  readonly required: boolean
  /** A text as it stands; anything else is typed as JSON. */
  readonly text: boolean
  /** Short form of the type, such as `integer` or `"all"`. */
  readonly type: string
}

interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly description?: string
}

/** A parameter of OpenRPC or OpenAPI as a field. */
export function fieldOf(parameter: {
  readonly name: string
  readonly description?: string
  readonly required?: boolean
  readonly schema?: unknown
}): Field {
  const { name, description = '', required = false } = parameter
  const schema = (parameter.schema ?? {}) as Schema
  const type = typeOf(schema)
  return { name, description, required, type, text: isText(schema) }
}

function typeOf(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`
  return schema.type ?? 'any'
}

function isText(schema: Schema): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.every(isText)
  if (schema.enum !== undefined) return schema.enum.every((one) => typeof one === 'string')
  return schema.type === 'string' || typeof schema.const === 'string'
}

/** The parameters of a call; fields left empty are left out. JSON that cannot be read is taken as text, for the node to refuse. */
export function parametersFrom(
  fields: readonly Field[],
  values: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const parameters: Record<string, unknown> = {}
  for (const { name, text } of fields) {
    const value = values[name] ?? ''
    if (value.trim() !== '') parameters[name] = text ? value : jsonOr(value)
  }
  return parameters
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A path of OpenAPI with its parameters put in; segments that are missing stay in braces, parameters of the query are left out. */
export function filledPath(
  path: string,
  fields: readonly Pick<Field, 'name'>[],
  values: Readonly<Record<string, string>>,
): string {
  const given = fields.flatMap(({ name }) => {
    const value = values[name] ?? ''
    return value === '' ? [] : [{ segment: `{${name}}`, name, text: encodeURIComponent(value) }]
  })
  const filled = given.reduce((text, { segment, text: value }) => text.replace(segment, () => value), path)
  const query = given.filter(({ segment }) => !path.includes(segment)).map(({ name, text }) => `${name}=${text}`)
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/** A request as a command of a shell. */
export function curlOf(url: string, method: string, body: string | undefined): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  if (body === undefined) return `curl -s ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`
  return `curl -s ${quoted(url)} -H 'content-type: application/json' -d ${quoted(body)}`
}
