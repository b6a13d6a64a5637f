// runExchanges: sends the requests of a scenario and returns each response without the values that a server chooses.
import type { Response } from '../custom-resources/scenario.ts'
import type { WireClient } from '../custom-resources/wire-client.ts'
import type { Scenario, Step } from '../services/scenario.ts'
import { requestOf, type Exchange } from '../services/run-scenario.ts'
import { claimScenarios } from './claim-scenarios.ts'
import { driverScenarios } from './driver-scenarios.ts'

export const scenarios: readonly Scenario[] = [...claimScenarios, ...driverScenarios]

export async function runExchanges(client: WireClient, { name, steps }: Scenario): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  for (const step of steps) {
    const { status, body } = await send(client, step)
    exchanges.push({ scenario: name, ...requestOf(step), status, body: normalForm(body) })
  }
  return exchanges
}

const send = (client: WireClient, { method, path, body }: Step): Promise<Response> => {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': contentType }
  return client.send({ method, path, headers, body: body && JSON.stringify(body), events: undefined })
}

const chosen = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
  'generation',
])
const timePattern = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g
const uidPattern = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g

/** The difference between two Go structs that upstream appends to a message. */
const differencePattern = /\n@@ (?:.*\n)*/g
/** Upstream shows some values as Go structs, or with the fields of the stored object in its own order. */
const structPattern = /Invalid value: "?\{.*\}"?:/g

function normalForm(value: unknown): unknown {
  if (typeof value === 'string')
    return value
      .replaceAll(differencePattern, '')
      .replaceAll(structPattern, 'Invalid value: <struct>:')
      .replaceAll(timePattern, '<time>')
      .replaceAll(uidPattern, '<uid>')
  if (Array.isArray(value)) return value.map(normalForm)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([name]) => !chosen.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, each]) => [name, normalForm(each)]))
}
