/** A reader of the text format of Prometheus, version 0.0.4, as strict as whoever scrapes it. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly Sample[]
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const labelPair = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y

/** The families of metrics by name. Throws at whatever breaks the format. */
export function parseMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families = new Map<string, { name: string; type: string; help: string; samples: Sample[] }>()
  let current: { name: string; type: string; help: string; samples: Sample[] } | undefined
  const seen = new Set<string>()
  for (const line of text.split('\n').slice(0, -1)) {
    if (line === '') continue
    const help = /^# HELP (\S+) (.+)$/.exec(line)
    const type = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line)
    if (help !== null) {
      const [, name = '', told = ''] = help
      if (families.has(name)) throw new Error(`${name} comes twice`)
      current = { name, type: '', help: told, samples: [] }
      families.set(name, current)
    } else if (type !== null) {
      if (current === undefined || current.name !== type[1] || current.type !== '')
        throw new Error(`out of place: ${line}`)
      current.type = type[2] as string
    } else {
      const sample = readSample(line)
      const family = current
      const suffix = family === undefined ? undefined : sample.name.slice(family.name.length)
      const suffixes = family?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (family === undefined || !sample.name.startsWith(family.name) || !suffixes.includes(suffix ?? '')) {
        throw new Error(`out of place: ${line}`)
      }
      const identity = line.slice(0, line.lastIndexOf(' '))
      if (seen.has(identity)) throw new Error(`comes twice: ${line}`)
      seen.add(identity)
      family.samples.push(sample)
    }
  }
  return families
}

function readSample(line: string): Sample {
  const [, name, inner, number] = sampleLine.exec(line) ?? []
  if (name === undefined || number === undefined) throw new Error(`no sample: ${line}`)
  const labels: Record<string, string> = {}
  labelPair.lastIndex = 0
  for (let at = 0; inner !== undefined && at < inner.length; at = labelPair.lastIndex) {
    const [, label, value] = labelPair.exec(inner) ?? []
    if (label === undefined || value === undefined || label in labels) throw new Error(`labels: ${line}`)
    labels[label] = value
  }
  const value = Number(number.replace(/^([+-]?)Inf$/, '$1Infinity'))
  if (number !== 'NaN' && Number.isNaN(value)) throw new Error(`no number: ${line}`)
  return { name, labels, value }
}

/** The value of the one sample with these labels and no others; undefined where there is none. */
export function sampleOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const same = (sample: Sample) =>
    Object.keys(sample.labels).length === Object.keys(labels).length &&
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''))
  return family?.samples.find((sample) => sample.name === name && same(sample))?.value
}
