import { controllersOf, keysOf } from '../did/key-uses.js'
import { type Members, objectsIn, textIn } from '../did/payload.js'
import { JsonView } from '../parts/json-view.js'
import { Panel, Table } from '../parts/panel.js'
import { DidName, Outside, Plain } from '../parts/values.js'

/** Keys and services of a document. */

/** An id without the DID of its document. */
export function fragment(id: string): string {
  const at = id.indexOf('#')
  return at < 0 ? id : id.slice(at)
}

export function DidKeys({ document }: { document: Members }) {
  const did = textIn(document, 'id')
  const { dids, needed } = controllersOf(document)
  return (
    <Panel title="Keys">
      {dids.length === 0 ? null : <Controllers dids={dids} needed={needed} />}
      <Table
        caption="keys of the document and what each may do"
        rows={keysOf(document)}
        keyOf={({ id }, index) => `${id} ${index}`}
        empty="No key."
        columns={[
          ['Key', ({ id }) => <Plain text={fragment(id)} />],
          [
            'May',
            ({ uses }) =>
              uses.length === 0 ? (
                <span class="quiet">nothing on this chain</span>
              ) : (
                <ul class="uses">
                  {uses.map((use) => (
                    <li key={use}>{use}</li>
                  ))}
                </ul>
              ),
          ],
          [
            'Controller',
            ({ controller }) =>
              controller === did ? <span class="quiet">the DID</span> : <DidName text={controller} />,
          ],
          [
            'Public key',
            ({ publicKey }) => (
              <span class="code">
                <Plain text={publicKey} />
              </span>
            ),
            'spare',
          ],
        ]}
      />
      {dids.length === 0 ? (
        <p class="quiet">
          Its holder changes these with <code>didledger did update</code>: <code>--add-key</code>,{' '}
          <code>--remove-key</code>, <code>--authorize</code>, <code>--revoke-authorization</code>; a leaked default key
          leaves only <code>didledger did deactivate</code>.
        </p>
      ) : (
        <p class="quiet">
          Its controllers change these with <code>didledger did name update</code>, and give it to others with{' '}
          <code>didledger did name ticket</code>. Their keys issue and declare credentials in its name, too; a revoke
          takes a key above.
        </p>
      )}
    </Panel>
  )
}

/** Who controls a DID with a name. */
function Controllers({ dids, needed }: { dids: readonly string[]; needed: number }) {
  return (
    <>
      <p>
        {dids.length === 1
          ? 'Its controller proves its documents:'
          : `${needed} of its ${dids.length} controllers prove a document:`}
      </p>
      <ul>
        {dids.map((did) => (
          <li key={did}>
            <DidName text={did} />
          </li>
        ))}
      </ul>
    </>
  )
}

const known = ['id', 'type', 'serviceEndpoint']

/** Other names of who has the DID; nothing where there is none. */
function OtherNames({ document }: { document: Members }) {
  const names: unknown = document['alsoKnownAs']
  if (!Array.isArray(names) || names.length === 0) return null
  return (
    <>
      <p class="quiet">Its holder also says that these are names of who has the DID:</p>
      <ul>
        {names.map((name, index) => (
          <li key={index}>
            <Outside text={String(name)} />
          </li>
        ))}
      </ul>
    </>
  )
}

export function DidServices({ document }: { document: Members }) {
  return (
    <Panel title="Services">
      <Table
        caption="services of the document"
        rows={objectsIn(document, 'service')}
        keyOf={(service, index) => `${textIn(service, 'id')} ${index}`}
        empty="No service."
        columns={[
          ['Service', (service) => <Plain text={fragment(textIn(service, 'id') ?? '')} />],
          ['Type', (service) => <Plain text={textIn(service, 'type') ?? ''} />],
          [
            'Endpoint',
            (service) => {
              const endpoint = service['serviceEndpoint']
              return typeof endpoint === 'string' ? (
                <Outside text={endpoint} />
              ) : (
                <JsonView value={endpoint} level={2} />
              )
            },
          ],
          [
            'More',
            (service) => {
              const more = Object.entries(service).filter(([name]) => !known.includes(name))
              return more.length === 0 ? '' : <JsonView value={Object.fromEntries(more)} level={9} />
            },
            'spare',
          ],
        ]}
      />
      <OtherNames document={document} />
    </Panel>
  )
}
