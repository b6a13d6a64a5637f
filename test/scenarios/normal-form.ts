// The normal form of recorded and current objects, events and outputs: without ids, hashes, addresses and times.

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

const volatileMetadata = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'deletionGracePeriodSeconds',
])
/** Fields that other parts of the system add; their own tests compare them. */
const foreignLabels = new Set(['topology.kubernetes.io/zone'])
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
const suffix = '[bcdfghjklmnpqrstvwxz2456789]'

export function normalText(text: string): string {
  return text
    .replaceAll(times, '<time>')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>')
    .replaceAll(/\bcj-\d{5,}/g, 'cj-<n>')
    .replaceAll(new RegExp(`\\b(web|api)-${suffix}{6,10}-${suffix}{5}\\b`, 'g'), '$1-<hash>-<id>')
    .replaceAll(new RegExp(`\\b(web|api|db|ds)-${suffix}{6,10}\\b`, 'g'), '$1-<hash>')
    .replaceAll(new RegExp(`\\b(ds|ok|ko|sus|idx-\\d|cj-<n>|web|kube-api-access)-${suffix}{5}\\b`, 'g'), '$1-<id>')
    .replaceAll(/\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/g, '<ip>')
    .replaceAll(/\bto n\d\b/g, 'to <node>')
    .replaceAll(/^[nz]\d$/g, '<node>')
}

/** Names of recorded hashes and ids, where the recording contains them. */
const hashNames = new Set(['pod-template-hash', 'controller-revision-hash', 'controller.kubernetes.io/hash'])

export function normalObject(value: Json, name = ''): Json {
  if (typeof value === 'string') return hashNames.has(name) ? '<hash>' : normalText(value)
  if (Array.isArray(value)) {
    const items = value.map((each) => normalObject(each))
    // The order of a map-like list is not significant.
    return name === 'conditions' ? items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items
  }
  if (value === null || typeof value !== 'object') return value
  // The number of writes of a slice depends on the timing of its pods.
  const isSlice = value['kind'] === 'EndpointSlice'
  const entries = Object.entries(isSlice ? { ...value, metadata: without(value['metadata'], 'generation') } : value)
    .filter(
      ([key, each]) => each !== null && !(name === 'metadata' && volatileMetadata.has(key)) && !foreignLabels.has(key),
    )
    .filter(([key]) => !(name === '' && key === 'uid'))
    .map(([key, each]): [string, Json] => [key, normalObject(each, key)])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** One line of a table: columns by words; ages and durations are times. */
export const normalOutput = (text: string): string =>
  normalText(text)
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replaceAll(/ +/g, ' ')
        .replaceAll(/\b\d+[smh]\b/g, '<age>'),
    )
    .join('\n')
    .trim()

/** The shape of a progress line without its numbers, because their number and timing vary. */
export const progressShape = (line: string): string => line.replaceAll(/\d+/g, '#')

function without(value: Json | undefined, name: string): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return {}
  const { [name]: _, ...rest } = value
  return rest
}
