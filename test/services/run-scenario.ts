// runScenario: sends the requests of a scenario and returns each response in its normal form: values that the server chooses
// are placeholders, the same value always the same one. The Services of a scenario are deleted at its end.
import { createHash } from 'node:crypto'
import type { Response } from '../custom-resources/scenario.ts'
import type { WireClient } from '../custom-resources/wire-client.ts'
import type { Scenario, Step } from './scenario.ts'

/** One line of a table in exchanges/. */
export interface Exchange {
  readonly scenario: string
  readonly request: string
  /** Of the body: a request that has changed must be recorded again. */
  readonly digest: string
  readonly status: number
  readonly body: unknown
}

export async function runScenario(client: WireClient, { name, steps }: Scenario): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  const chosen = new ChosenValues()
  for (const step of steps) {
    const { status, body } = await send(client, step)
    exchanges.push({ scenario: name, ...requestOf(step), status, body: chosen.normalForm(resultOf(body)) })
  }
  const { body: left } = await send(client, { method: 'GET', path: '/api/v1/namespaces/default/services' })
  for (const { metadata } of (left as { items: { metadata: { name: string } }[] }).items)
    if (metadata.name !== 'kubernetes')
      await send(client, { method: 'DELETE', path: `/api/v1/namespaces/default/services/${metadata.name}` })
  return exchanges
}

export const requestOf = ({ method, path, body }: Step): { readonly request: string; readonly digest: string } => ({
  request: `${method} ${path}`,
  digest: createHash('sha256')
    .update(JSON.stringify(body ?? null))
    .digest('hex')
    .slice(0, 8),
})

const send = (client: WireClient, { method, path, body }: Step): Promise<Response> => {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': contentType }
  return client.send({ method, path, headers, body: body && JSON.stringify(body), events: undefined })
}

type Fields = Readonly<Record<string, unknown>>

/** A Status as it is; of an object, what its kind has besides metadata. */
function resultOf(body: Fields): Fields {
  if (body['kind'] === 'Status') {
    const { metadata: _, kind: _kind, apiVersion: _version, status: _status, code: _code, ...rest } = body
    return rest
  }
  const { metadata, kind: _kind, apiVersion: _version, ...rest } = body
  const labels = (metadata as { labels?: Fields } | undefined)?.labels
  return labels === undefined ? rest : { ...rest, labels }
}

/** Servers choose from the upper part of each range, so values of the lower part were requested. */
const chosenAddresses: readonly [word: string, pattern: RegExp][] = [
  ['IPv4 address', /\b10\.96\.(?!0\.)\d+\.\d+\b/g],
  ['IPv6 address', /\bfd00:96::[0-9a-f]{3,4}\b/g],
]
const portFields = ['nodePort', 'healthCheckNodePort']
const chosenPorts = { first: 30_090, last: 32_767 }
const timePattern = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g
const uidPattern = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g

class ChosenValues {
  readonly #known = new Map<string, string>()

  /** With keys in alphabetical order, so that placeholders do not depend on the order in which a server writes fields. */
  normalForm(value: unknown, key = ''): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'number') return this.#number(value, key)
    if (Array.isArray(value)) return value.map((each) => this.normalForm(each))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(entries.map(([name, each]) => [name, this.normalForm(each, name)]))
  }

  #number(value: number, key: string): unknown {
    const isChosen = portFields.includes(key) && value >= chosenPorts.first && value <= chosenPorts.last
    return isChosen ? this.#placeholder('port', String(value)) : value
  }

  #text(value: string): string {
    let text = value
      .replaceAll(/(Duplicate value: )3\d{4}\b/g, '$1<port>')
      .replaceAll(timePattern, '<time>')
      .replaceAll(uidPattern, '<uid>')
    for (const [word, pattern] of chosenAddresses)
      text = text.replaceAll(pattern, (found) => this.#placeholder(word, found))
    return text
  }

  #placeholder(word: string, value: string): string {
    const count = [...this.#known.values()].filter((each) => each.startsWith(`<${word} `)).length
    const found = this.#known.get(value) ?? `<${word} ${count + 1}>`
    this.#known.set(value, found)
    return found
  }
}
