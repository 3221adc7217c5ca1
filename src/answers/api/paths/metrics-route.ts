import type { PlainRoute } from './plain-route.js'

export const metricsRoute: PlainRoute = {
  path: '/metrics',
  // It shows who uses the node, and how much it bears.
  ownSite: true,
  summary: 'Figures of the node in the text format of Prometheus.',
  answer: async ({ metrics }) => ({ status: 200, contentType: metrics.contentType, body: await metrics.text() }),
}
