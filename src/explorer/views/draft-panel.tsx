import { shownDraft } from '../did/draft.js'
import { Panel } from '../parts/panel.js'
import { Plain } from '../parts/values.js'
import type { DidView } from '../verify/views.js'
import { DocumentDifferences } from './document-differences.js'

/** @tuning characters: longest draft that the page reads */
const longestDraft = 200_000

/** The text of a draft, held by the page: what was pasted stays when the proof takes the place of the node's word. */
export interface DraftText {
  readonly text: string
  readonly setText: (text: string) => void
}

/** Shows a controller what a draft changes, before it is signed by a command. */
export function DraftPanel({
  view: { did, count, document, operations },
  held: { text, setText },
}: {
  view: DidView
  held: DraftText
}) {
  const last = operations[0]?.number === count ? operations[0]?.txid : undefined
  const draft = shownDraft(text, { did, exists: count > 0, last })
  return (
    <Panel title="A draft to sign">
      <label class="stacked">
        The file of a draft, which controllers sign with <code>didledger did name sign</code>; it is sent nowhere
        <textarea
          class="code"
          rows={3}
          maxLength={longestDraft}
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div role="status">
        {draft === undefined ? null : 'fault' in draft ? (
          <p class="notice warn">
            <Plain text={draft.fault} />
          </p>
        ) : (
          <>
            <p>
              Who signs it, signs a document with these differences from the one above, for the{' '}
              <Plain text={draft.operation} /> of <Plain text={did} />:
            </p>
            <DocumentDifferences before={document ?? {}} after={draft.document} />
          </>
        )}
      </div>
    </Panel>
  )
}
