/**
 * The page beside the files of a mirror: one file, which resolves DIDs from the other files alone.
 *
 *   address (address-did.ts) -> MirrorPage -> MirrorReader (mirror-reader.ts) -> LightResolver over the files -> values of parts/
 *
 * - The build puts scripts and styles into the one file, and a content security policy that allows these alone.
 * - Texts of documents, and of the mirror, are hostile: all pass through text/one-door.
 */
import { options, render } from 'preact'
import '../style/base.css'
import '../style/frame.css'
import '../style/parts.css'
import { guard } from '../text/one-door.js'
import { MirrorPage } from './mirror-page.js'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for the app')
options.vnode = guard
render(<MirrorPage />, root)
