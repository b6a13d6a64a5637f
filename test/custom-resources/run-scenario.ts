// runScenario: creates the definitions of a scenario, waits until they are served, sends its requests in order, and returns
// each recorded response in its normal form.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { realClock } from '../../src/base/time/clock.ts'
import { NormalForm } from './normal-form.ts'
import {
  createDefinition,
  definitionsPath,
  remove,
  type Definition,
  type DefinitionVersion,
  type Response,
  type Scenario,
  type Step,
} from './scenario.ts'
import type { WireClient } from './wire-client.ts'

/** One line of a table in exchanges/. */
export interface Exchange {
  readonly scenario: string
  /** Method and path. */
  readonly request: string
  /** Of what is sent besides: a request that has changed must be recorded again. */
  readonly digest: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** The server lists errors, warnings or values in no particular order. */
  readonly isUnordered?: boolean
}

const headersCompared = ['content-type', 'warning', 'cache-control', 'allow', 'retry-after', 'vary']

export async function runScenario(
  client: WireClient,
  { name, definitions, steps }: Scenario,
  exchanges: Exchange[] = [],
): Promise<Exchange[]> {
  const normalForm = new NormalForm()
  const labelled = new Map<string, Response>()
  for (const each of definitions) await serveDefinition(client, each)
  for (const step of steps) {
    const response = await take(client, step, labelled)
    if (step.label !== undefined) labelled.set(step.label, response)
    if (step.isPreparation) {
      mustSucceed(`${name}: ${step.method} ${step.path}`, response)
      continue
    }
    normalForm.exchange = exchanges.length
    const prefix = (step.body as { metadata?: { generateName?: string } } | undefined)?.metadata?.generateName
    if (prefix !== undefined) normalForm.addGenerateName(prefix)
    const { status, headers, body } = response
    const seen: unknown = step.view === undefined ? body : step.view(body)
    exchanges.push({
      scenario: name,
      request: `${step.method} ${step.path}`,
      digest: digestOf(step),
      status,
      headers: Object.fromEntries(headersCompared.flatMap((key) => (headers[key] ? [[key, headers[key]]] : []))),
      body: step.path.startsWith(definitionsPath) ? normalForm.ofDefinition(seen) : normalForm.of(seen),
    })
  }
  for (const { metadata } of definitions)
    await take(
      client,
      remove(`${definitionsPath}/${metadata.name}`, undefined, { until: ({ status }) => status === 404 }),
    )
  return exchanges
}

export function digestOf({ contentType, accept, body, events }: Step): string {
  const text = JSON.stringify([contentType, accept, body, events])
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

/** A definition is served a moment after it is established. */
async function serveDefinition(client: WireClient, definition: Definition): Promise<void> {
  const { group, versions, names } = definition.spec
  const created = await take(client, createDefinition(definition))
  mustSucceed(definition.metadata.name, created)
  const ownPath = `${definitionsPath}/${definition.metadata.name}`
  await take(client, { method: 'GET', path: ownPath, until: isEstablished })
  for (const { name, served } of versions)
    if (served)
      await take(client, {
        method: 'GET',
        path: `/apis/${group}/${name}/${names.plural}`,
        until: ({ status }) => status === 200,
      })
}

interface Condition {
  readonly type: string
  readonly status: string
}

export const isEstablished = ({ body }: Response): boolean =>
  ((body.status?.conditions ?? []) as Condition[]).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )

/** Established, and the names of the status are those of the specification. */
export const isSettled = (response: Response): boolean =>
  isEstablished(response) &&
  isDeepStrictEqual(response.body.status.acceptedNames, response.body.spec.names) &&
  (response.body.spec.versions as DefinitionVersion[]).every(
    ({ name, storage }) => !storage || response.body.status.storedVersions.includes(name),
  )

/** Sends a request until its response is as expected. */
async function take(
  client: WireClient,
  step: Step,
  labelled: ReadonlyMap<string, Response> = new Map(),
): Promise<Response> {
  const endMs = realClock.monotonicMs() + untilMsMax
  for (;;) {
    const response = await send(client, step, labelled)
    if (step.until?.(response) ?? true) return response
    const said = () => `${step.method} ${step.path} is answered with ${JSON.stringify(response)}`
    if (realClock.monotonicMs() > endMs) throw new Error(said())
    await realClock.sleep(pollEveryMs, new AbortController().signal)
  }
}

const pollEveryMs = 10
const untilMsMax = 10_000

const send = (
  client: WireClient,
  { method, path, contentType, accept, body, events }: Step,
  labelled: ReadonlyMap<string, Response> = new Map(),
): Promise<Response> => {
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  return client.send({
    method,
    path: withReferences(path, labelled),
    headers: {
      ...(text === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
      ...(accept === undefined ? {} : { accept }),
    },
    body: text === undefined ? undefined : withReferences(text, labelled),
    events,
  })
}

const withReferences = (text: string, labelled: ReadonlyMap<string, Response>): string =>
  text.replaceAll(/\{\{(\w+)\.([\w.]+)\}\}/g, (whole, label: string, path: string) => {
    let value: unknown = labelled.get(label)?.body
    for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[key]
    if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`${whole} is not in the response`)
    return String(value)
  })

function mustSucceed(what: string, { status, body }: Response): void {
  if (status >= 300) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`)
}
