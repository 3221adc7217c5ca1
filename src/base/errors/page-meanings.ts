/**
 * Meanings that are whole messages in code that pages load too. They stand apart from the table of all codes, which has them from here: a
 * bundle takes what it names, and a page has no use for the other two hundred.
 */
export const pageMeanings = {
  'tx-ambiguous-size': 'the unsigned part is 64 bytes long and could be taken for a merkle node',
  'json-utf8': 'the bytes are not UTF-8',
  'did-previous-form': 'previousTxid is 64 lowercase hex digits on an update and absent otherwise',
  'did-payload-encoding': 'the payload is not exact base64url without padding',
  'did-proof-type': 'the proof type of an operation is empty or ECDSAsecp256r1',
  'did-signature-form': 'a signature is 86 base64url characters whose unused bits are zero',
}
