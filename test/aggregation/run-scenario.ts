// runScenario: sends the requests of a scenario and returns each response in its normal form. What the scenario created is
// deleted at its end.
import { createHash } from 'node:crypto'
import { realClock } from '../../src/base/time/clock.ts'
import { NormalForm } from '../custom-resources/normal-form.ts'
import type { Response } from '../custom-resources/scenario.ts'
import type { WireClient } from '../custom-resources/wire-client.ts'
import type { ExtensionServer } from './extension-server.ts'
import {
  apiServices,
  authorityPlaceholder,
  isRequest,
  portPlaceholder,
  services,
  type RequestStep,
  type Scenario,
  type ServerStep,
} from './scenario.ts'

/** One line of exchanges.jsonl. */
export interface Exchange {
  readonly scenario: string
  readonly request: string
  /** Of headers and body: a request that has changed must be recorded again. */
  readonly digest: string
  readonly status: number
  readonly contentType: string
  readonly body: unknown
}

export async function runScenario(
  client: WireClient,
  extension: ExtensionServer,
  { name, steps }: Scenario,
): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  const normalForm = new NormalForm()
  await extension.start()
  for (const step of steps) {
    if (!isRequest(step)) {
      await change(extension, step)
      continue
    }
    const { status, headers, body } = await take(client, extension, step)
    if (step.isPreparation) {
      if (status >= 300) throw new Error(`${name}: ${step.method} ${step.path}: ${status} ${JSON.stringify(body)}`)
      continue
    }
    normalForm.exchange = exchanges.length
    const seen: unknown = step.view === undefined ? body : step.view(body)
    exchanges.push({
      scenario: name,
      ...requestOf(step),
      status,
      // Upstream sets no type for the index of OpenAPI v3, so that Go detects text.
      contentType: step.path === '/openapi/v3' ? '' : (headers['content-type'] ?? ''),
      body: normalForm.of(withoutServer(seen, extension)),
    })
  }
  await cleanUp(client, extension)
  return exchanges
}

export const requestOf = ({ method, path, headers, body, events }: RequestStep) => ({
  request: `${method} ${path}`,
  digest: createHash('sha256')
    .update(JSON.stringify([headers, body, events]))
    .digest('hex')
    .slice(0, 8),
})

async function change(extension: ExtensionServer, { server }: ServerStep): Promise<void> {
  if (server === 'stop') await extension.stop()
  else if (server === 'start') await extension.start()
  else extension.failure = server === 'fail' ? 500 : undefined
}

const pollEveryMs = 20
/** Upstream notices after half a minute that a server is gone. */
const untilMsMax = Number(process.env['RECORD_UNTIL_MS'] ?? 20_000)

async function take(client: WireClient, extension: ExtensionServer, step: RequestStep): Promise<Response> {
  const endMs = realClock.monotonicMs() + untilMsMax
  for (;;) {
    const response = await send(client, extension, step)
    if (step.until?.(response) ?? true) return response
    if (realClock.monotonicMs() > endMs)
      throw new Error(`${step.method} ${step.path} is answered with ${JSON.stringify(response)}`)
    await realClock.sleep(pollEveryMs, new AbortController().signal)
  }
}

function send(
  client: WireClient,
  { port, caBundle }: ExtensionServer,
  { method, path, headers = {}, body, events }: RequestStep,
): Promise<Response> {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  return client.send({
    method,
    path,
    headers: { ...(text === undefined ? {} : { 'content-type': contentType }), ...headers },
    body: text?.replaceAll(JSON.stringify(portPlaceholder), String(port)).replaceAll(authorityPlaceholder, caBundle),
    events,
  })
}

/** The port, the authority and the certificate of the client differ in every run. */
function withoutServer(value: unknown, { port, caBundle }: ExtensionServer): unknown {
  const text = JSON.stringify(value)
  if (text === undefined) return value
  return JSON.parse(
    text
      .replaceAll(`:${port}`, ':0')
      .replaceAll(caBundle, authorityPlaceholder)
      .replaceAll(/X509SHA256=[0-9a-f]+/g, 'X509SHA256=<digest>'),
  )
}

async function cleanUp(client: WireClient, extension: ExtensionServer): Promise<void> {
  await extension.start()
  extension.failure = undefined
  extension.clear()
  const { body: all } = await send(client, extension, { method: 'GET', path: apiServices })
  for (const { metadata, spec } of all.items as { metadata: { name: string }; spec: { service?: object } }[])
    if (spec.service !== undefined)
      await send(client, extension, { method: 'DELETE', path: `${apiServices}/${metadata.name}` })
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const { body: defined } = await send(client, extension, { method: 'GET', path: definitions })
  for (const { metadata } of defined.items)
    await send(client, extension, { method: 'DELETE', path: `${definitions}/${metadata.name}` })
  const { body: left } = await send(client, extension, { method: 'GET', path: services })
  for (const { metadata } of left.items)
    if (metadata.name !== 'kubernetes')
      await send(client, extension, { method: 'DELETE', path: `${services}/${metadata.name}` })
}
