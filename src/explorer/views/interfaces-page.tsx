import { useEffect, useState } from 'preact/hooks'
import { ask, fetchText, nodeUrl } from '../ask/node-rpc.js'
import { NodeGone } from '../ask/refusal.js'
import { useAnswer } from '../ask/use-answer.js'
import { curlOf, type Field, fieldOf, filledPath, parametersFrom } from '../find/call-fields.js'
import { Input } from '../parts/form.js'
import { JsonView } from '../parts/json-view.js'
import { Answered, Badge, Heading, Panel } from '../parts/panel.js'
import { Copy, Plain } from '../parts/values.js'
import { linkTo, type Route } from '../route.js'
import { bytes } from '../text/numbers.js'

/** Every JSON-RPC method and REST row, from the node's own descriptions, to be tried. */

interface Entry {
  /** Stands in the address of the page. */
  readonly name: string
  readonly summary: string
  readonly note: string
  readonly fields: readonly Field[]
  /** Method and path of a REST row; absent: a method of JSON-RPC. */
  readonly rest?: { readonly method: string; readonly path: string; readonly inBody: ReadonlySet<string> }
  readonly owner: boolean
}

interface OpenRpc {
  readonly methods: readonly {
    readonly name: string
    readonly summary: string
    readonly description?: string
    readonly tags?: readonly { readonly name: string }[]
    readonly params: readonly Parameters<typeof fieldOf>[0][]
  }[]
}

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly summary?: string
            readonly parameters?: readonly Parameters<typeof fieldOf>[0][]
            readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: BodySchema }>> }
          }
        >
      >
    >
  >
}

interface BodySchema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>
  readonly required?: readonly string[]
}

async function entries(signal: AbortSignal): Promise<Entry[]> {
  const [rpc, api] = await Promise.all([
    ask<OpenRpc>('rpc.discover', {}, signal),
    fetchText(nodeUrl('openapi.json'), { signal }).then(({ text }) => JSON.parse(text) as OpenApi),
  ])
  const methods = rpc.methods.map(({ name, summary, description = '', params, tags = [] }): Entry => {
    return {
      name,
      summary,
      note: description,
      fields: params.map(fieldOf),
      owner: tags.some((tag) => tag.name === 'admin'),
    }
  })
  const rows = Object.entries(api.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary = '', parameters = [], requestBody }]): Entry => {
      const body = Object.values(requestBody?.content ?? {})[0]?.schema
      const inBody = Object.entries(body?.properties ?? {}).map(([name, schema]) =>
        fieldOf({
          name,
          schema,
          description: schema.description ?? '',
          required: body?.required?.includes(name) === true,
        }),
      )
      const upper = method.toUpperCase()
      return {
        name: `${upper} ${path}`,
        summary,
        note: '',
        fields: [...parameters.map(fieldOf), ...inBody],
        rest: { method: upper, path, inBody: new Set(inBody.map(({ name }) => name)) },
        owner: false,
      }
    }),
  )
  return [...rows, ...methods]
}

export function InterfacesPage({ subject, options }: Route) {
  const answer = useAnswer(entries, ['interfaces'], { every: 'once' })
  const [part, setPart] = useState('')
  return (
    <>
      <Heading kind="Interfaces" />
      <Answered answer={answer}>
        {(all) => {
          const chosen = all.find(({ name }) => name === subject) ?? all.find(({ name }) => name === 'getcurrentheight')
          const listed = all.filter(({ name, summary }) =>
            `${name} ${summary}`.toLowerCase().includes(part.trim().toLowerCase()),
          )
          return (
            <div class="sided">
              <Panel title="Methods and paths">
                <Input
                  class="filter"
                  type="search"
                  placeholder="part of a name"
                  aria-label="part of a name"
                  value={part}
                  set={setPart}
                />
                <Names title="JSON-RPC" entries={listed.filter(({ rest }) => rest === undefined)} chosen={chosen} />
                <Names title="REST" entries={listed.filter(({ rest }) => rest !== undefined)} chosen={chosen} />
              </Panel>
              {chosen !== undefined && <Try key={chosen.name} entry={chosen} given={options} />}
            </div>
          )
        }}
      </Answered>
    </>
  )
}

function Names({
  title,
  entries: list,
  chosen,
}: {
  title: string
  entries: readonly Entry[]
  chosen: Entry | undefined
}) {
  return (
    <>
      <h3>{title}</h3>
      <ul class="names">
        {list.map(({ name }) => (
          <li key={name}>
            <a
              href={linkTo('interfaces', name)}
              {...(name === chosen?.name ? { 'aria-current': 'page' as const } : {})}
            >
              {name.replace('/api/v1', '…')}
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

interface Shown {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly milliseconds: number
}

/** Kept while the page is open, and nowhere else. */
let ownerToken = ''

function Try({ entry, given }: { entry: Entry; given: ReadonlyMap<string, string> }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>(Object.fromEntries(given))
  const [token, setToken] = useState(ownerToken)
  const [shown, setShown] = useState<Shown | string | undefined>(undefined)
  useEffect(() => {
    ownerToken = token
  }, [token])
  const request = requestOf(entry, values)
  const send = async (event: Event) => {
    event.preventDefault()
    const began = performance.now()
    const headers = {
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(entry.owner && token !== '' ? { authorization: `Bearer ${token}` } : {}),
    }
    try {
      const body = request.body === undefined ? {} : { body: request.body }
      const answer = await fetchText(request.url, { method: request.method, headers, ...body })
      setShown({ ...answer, milliseconds: performance.now() - began })
    } catch (error) {
      setShown(error instanceof NodeGone ? 'The node does not answer.' : String(error))
    }
  }
  return (
    <div class="stack">
      <Panel title={entry.name} note={entry.owner ? <Badge tone="warn">owner</Badge> : undefined}>
        <p>{entry.summary}</p>
        {entry.note !== '' && <p class="quiet">{entry.note}</p>}
        <form class="fields" onSubmit={(event) => void send(event)}>
          {entry.fields.map(({ name, description, required, type }) => (
            <label key={name}>
              <span>
                <b>{name}</b>{' '}
                <span class="quiet">
                  {type}
                  {required ? '' : ', optional'}
                </span>
              </span>
              <Input
                class="code"
                required={required}
                value={values[name] ?? ''}
                set={(value) => setValues({ ...values, [name]: value })}
              />
              <span class="quiet hint">{description}</span>
            </label>
          ))}
          {entry.owner && (
            <label>
              <span>
                <b>token</b> <span class="quiet">of the owner</span>
              </span>
              <Input class="code" type="password" autocomplete="off" value={token} set={setToken} />
              <span class="quiet hint">
                from the file admin.token in the data directory; kept until this page is closed
              </span>
            </label>
          )}
          <button class="main" type="submit">
            Send
          </button>
        </form>
      </Panel>
      <Panel
        title="Request"
        note={<Copy text={curlOf(request.url.href, request.method, request.body)} what="the request as a command" />}
      >
        <pre class="code call">{curlOf(request.url.href, request.method, request.body)}</pre>
      </Panel>
      {shown !== undefined && <Result shown={shown} />}
    </div>
  )
}

function requestOf({ name, fields, rest }: Entry, values: Readonly<Record<string, string>>) {
  if (rest === undefined) {
    const params = parametersFrom(fields, values)
    return {
      url: nodeUrl('rpc'),
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params }),
    }
  }
  const inBody = fields.filter((field) => rest.inBody.has(field.name))
  const inUrl = fields.filter((field) => !rest.inBody.has(field.name))
  const url = nodeUrl(filledPath(rest.path, inUrl, values).replace(/^\//, ''))
  const posts = rest.method === 'POST' && inBody.length > 0
  return { url, method: rest.method, body: posts ? JSON.stringify(parametersFrom(inBody, values)) : undefined }
}

function Result({ shown }: { shown: Shown | string }) {
  if (typeof shown === 'string') {
    return (
      <Panel title="Answer">
        <p class="failure" role="alert">
          {shown}
        </p>
      </Panel>
    )
  }
  const value = jsonIn(shown)
  return (
    <Panel
      title="Answer"
      note={
        <span class="quiet number">
          {shown.status} · {bytes(shown.text.length)} · {shown.milliseconds.toFixed(0)} ms
        </span>
      }
    >
      <div role="status" class="answer">
        {value === undefined ? <Plain text={shown.text} lines /> : <JsonView value={value.json} />}
      </div>
    </Panel>
  )
}

function jsonIn({ type, text }: Shown): { readonly json: unknown } | undefined {
  if (!type.includes('json')) return undefined
  try {
    return { json: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
