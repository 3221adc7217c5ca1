import { maxHeight } from '../../../base/primitives/height.js'

/** The headers of heights in OpenAPI. */

/** `X-Min-Height` of a request. */
export const minHeightParameter = {
  name: 'X-Min-Height',
  in: 'header',
  required: false,
  description: 'least height as of which the answer has to hold; the node waits a moment for its block',
  schema: { type: 'integer', minimum: 0, maximum: maxHeight },
}

/** `X-Chain-Height` of an answer. */
export const heightHeaders = {
  'X-Chain-Height': {
    description: 'height of the chain when the answer was given',
    schema: { type: 'integer', minimum: 0, maximum: maxHeight },
  },
}

/** Cause of 503 at every path that takes `X-Min-Height`. */
export const behindHeight = 'the node has not reached X-Min-Height in time; Retry-After says when to ask again'
