import { type Members, objectsIn, textIn, textsIn } from '../did/payload.js'
import { Table } from '../parts/panel.js'
import { DidName, Expiry, Plain } from '../parts/values.js'

/** Types that are shown of one document. */
const most = 6

export function FoundTable({ documents }: { documents: readonly Members[] }) {
  return (
    <Table
      caption="documents that were found"
      rows={documents}
      keyOf={(document, index) => textIn(document, 'id') ?? index}
      empty="No DID meets the condition."
      columns={[
        ['DID', (document) => <DidName text={textIn(document, 'id') ?? ''} />],
        ['Services', (document) => <Tags texts={typesIn(document, 'service')} />],
        ['Credentials', (document) => <Tags texts={typesIn(document, 'verifiableCredential')} />],
        ['Expires', (document) => <Expiry date={textIn(document, 'expires') ?? ''} />, 'spare'],
      ]}
    />
  )
}

function typesIn(document: Members, name: string): string[] {
  return [...new Set(objectsIn(document, name).flatMap((one) => textsIn(one, 'type')))]
}

function Tags({ texts }: { texts: readonly string[] }) {
  return (
    <span class="tags">
      {texts.slice(0, most).map((text) => (
        <span class="tag" key={text}>
          <Plain text={text} />
        </span>
      ))}
      {texts.length > most && <span class="quiet"> +{texts.length - most}</span>}
    </span>
  )
}
