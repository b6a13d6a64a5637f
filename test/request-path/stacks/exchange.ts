// Exchange: a request whose response contains what only this request has, so that a lost, repeated or exchanged response is
// noticed.
import { deepEqual, equal } from 'node:assert/strict'

export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly contentType: string
  /** Empty: no body. */
  readonly body: string
  /** Throws unless it is the response to this request. */
  check(status: number, body: string): void
}

interface Answer {
  readonly message?: string
  readonly metadata: { readonly name?: string }
  readonly data?: Readonly<Record<string, string>>
}

export const namespace = 'soak'
export const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
/** ConfigMaps that exist, `stored-0` and so on. */
export const storedObjects = 100
export const storedName = (index: number): string => `stored-${index % storedObjects}`

/** Of a body: mostly small, some above the limit of what is buffered of one body, few of several reads. */
const paddingOf = (index: number): number => {
  if (index % 997 === 0) return 300_000
  return index % 97 === 0 ? 70_000 : index % 64
}

const answerOf = (body: string): Answer => JSON.parse(body) as Answer

type Kind = (index: number) => Exchange

const json = 'application/json'

const read: Kind = (index) => ({
  method: 'GET',
  path: `${configMaps}/${storedName(index)}`,
  contentType: json,
  body: '',
  check(status, body) {
    equal(status, 200)
    deepEqual(answerOf(body).data, { name: storedName(index) })
  },
})

const missing: Kind = (index) => ({
  method: 'GET',
  path: `${configMaps}/missing-${index}`,
  contentType: json,
  body: '',
  check(status, body) {
    equal(status, 404)
    equal(answerOf(body).message, `configmaps "missing-${index}" not found`)
  },
})

const create: Kind = (index) => {
  const name = `new-${index}`
  const data = { index: String(index), padding: 'p'.repeat(paddingOf(index)) }
  return {
    method: 'POST',
    path: `${configMaps}?dryRun=All`,
    contentType: json,
    body: JSON.stringify({ metadata: { name }, data }),
    check(status, body) {
      equal(status, 201)
      const answer = answerOf(body)
      deepEqual([answer.metadata.name, answer.data], [name, data])
    },
  }
}

const patch: Kind = (index) => {
  const data = { index: String(index), padding: 'q'.repeat(paddingOf(index)) }
  return {
    method: 'PATCH',
    path: `${configMaps}/${storedName(index)}?dryRun=All`,
    contentType: 'application/merge-patch+json',
    body: JSON.stringify({ data }),
    check(status, body) {
      equal(status, 200)
      deepEqual(answerOf(body).data, { name: storedName(index), ...data })
    },
  }
}

const kinds = [read, create, missing, patch]

/** The exchange of a number: numbers that differ give responses that differ, except for reads of the same object. */
export const exchangeOf: Kind = (index) => (kinds[index % kinds.length] as Kind)(index)

/** `send` for each number below `count`, as many at once as there are connections. */
export async function overConnections(
  count: number,
  connections: number,
  send: (index: number, connection: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const run = async (_: unknown, connection: number) => {
    for (let index = next++; index < count; index = next++) await send(index, connection)
  }
  await Promise.all(Array.from({ length: connections }, run))
}
