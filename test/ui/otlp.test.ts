// --otlp-endpoint: a cluster exports its flow record to a collector.
import { equal, match } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { test } from 'node:test'
import { silentLog } from '../../src/base/observability/log.ts'
import { up } from '../../src/cluster/run/up.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
}

async function spansIn(request: IncomingMessage): Promise<Span[]> {
  let text = ''
  for await (const piece of request) text += String(piece)
  const { resourceSpans } = JSON.parse(text) as { resourceSpans: [{ scopeSpans: [{ spans: Span[] }] }] }
  return resourceSpans[0].scopeSpans[0].spans
}

/** Resolves with a write and its request, once the collector has both. */
function collector() {
  const found = Promise.withResolvers<{ readonly write: Span; readonly request: Span }>()
  const spans = new Map<string, Span>()
  const receive = async (request: IncomingMessage): Promise<void> => {
    for (const span of await spansIn(request)) spans.set(span.spanId, span)
    for (const write of spans.values()) {
      const parent = spans.get(write.parentSpanId ?? '')
      if (write.name.startsWith('put ') && parent?.name.startsWith('create ')) found.resolve({ write, request: parent })
    }
  }
  const server = createServer((request, response) => {
    receive(request)
      .then(() => response.end('{}'))
      .catch(found.reject)
  })
  return { server, found: found.promise }
}

test('a collector gets requests and their writes as spans of one trace', { timeout: 60_000 }, async () => {
  const { server, found } = collector()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-otlp-'))
  try {
    await using cluster = await up({
      ...{
        dataDirectory: join(directory, 'data'),
        kubeconfigPath: join(directory, 'config'),
        store: { kind: 'memory' },
      },
      ...{ host: '127.0.0.1', port: 0, nodes: 0, log: silentLog },
      otlpEndpoint: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    })
    match(cluster.url, /^https:/)
    const { write, request } = await found
    equal(write.traceId, request.traceId)
    match(write.traceId, /^[0-9a-f]{32}$/)
    match(write.spanId, /^[0-9a-f]{16}$/)
  } finally {
    server.close()
    server.closeAllConnections()
    await rm(directory, { recursive: true })
  }
})
