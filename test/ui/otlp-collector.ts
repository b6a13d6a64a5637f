// A collector of OpenTelemetry for tests: it decodes requests as the JSON encoding of OTLP defines them, and rejects others.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface ReceivedSpan {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startNanos: bigint
  readonly endNanos: bigint
  readonly attributes: ReadonlyMap<string, string | bigint>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code: number; readonly message: string }
  readonly eventNames: readonly string[]
}

export interface Collector extends AsyncDisposable {
  readonly endpoint: URL
  /** By their id. */
  readonly spans: ReadonlyMap<string, ReceivedSpan>
  /** The number of spans in each request. */
  readonly batches: readonly number[]
  /** What is wrong with the requests. */
  readonly problems: readonly string[]
  /** Resolves when the condition is met; it is checked after each request. */
  until(condition: () => boolean): Promise<void>
}

type Json = Readonly<Record<string, unknown>>

/** Reads fields of messages; fields that the protocol does not have are problems. */
class Decoder {
  readonly problems: string[] = []

  message(value: unknown, name: string, fields: readonly string[]): Json {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.problems.push(`${name} is not a message`)
      return {}
    }
    for (const field of Object.keys(value))
      if (!fields.includes(field)) this.problems.push(`${name} has no field ${field}`)
    return value as Json
  }

  list(value: unknown, name: string): readonly unknown[] {
    if (value === undefined) return []
    if (Array.isArray(value)) return value
    this.problems.push(`${name} is not a list`)
    return []
  }

  hex(value: unknown, name: string, digits: number): string {
    const isValid = typeof value === 'string' && new RegExp(`^[0-9a-f]{${digits}}$`, 'i').test(value)
    if (!isValid || /^0+$/.test(value)) this.problems.push(`${name} is not an id: ${String(value)}`)
    return String(value)
  }

  integer64(value: unknown, name: string): bigint {
    if (typeof value !== 'string' || !/^-?\d+$/.test(value)) {
      this.problems.push(`${name} is not a 64-bit integer in a string`)
      return 0n
    }
    return BigInt(value)
  }

  text(value: unknown, name: string): string {
    if (value !== undefined && typeof value !== 'string') this.problems.push(`${name} is not a string`)
    return typeof value === 'string' ? value : ''
  }

  attributes(value: unknown, name: string): Map<string, string | bigint> {
    const found = new Map<string, string | bigint>()
    for (const each of this.list(value, name)) {
      const { key, value: any } = this.message(each, name, ['key', 'value'])
      const typed = this.message(any, `${name} ${String(key)}`, ['stringValue', 'intValue'])
      if (found.has(String(key))) this.problems.push(`${name} ${String(key)} is there twice`)
      if ((typed['stringValue'] === undefined) === (typed['intValue'] === undefined))
        this.problems.push(`${name} ${String(key)} does not have one value`)
      const text = this.text(typed['stringValue'], name)
      found.set(this.text(key, name), typed['intValue'] === undefined ? text : this.integer64(typed['intValue'], name))
    }
    return found
  }

  request(body: unknown): ReceivedSpan[] {
    const { resourceSpans } = this.message(body, 'request', ['resourceSpans'])
    return this.list(resourceSpans, 'resourceSpans').flatMap((each) => {
      const { resource, scopeSpans } = this.message(each, 'ResourceSpans', ['resource', 'scopeSpans', 'schemaUrl'])
      const { attributes } = this.message(resource, 'Resource', ['attributes'])
      const described = this.attributes(attributes, 'Resource')
      for (const key of ['service.name', 'service.namespace', 'service.instance.id'])
        if (!described.get(key)) this.problems.push(`a resource has no ${key}`)
      return this.list(scopeSpans, 'scopeSpans').flatMap((scoped) => {
        const { scope, spans } = this.message(scoped, 'ScopeSpans', ['scope', 'spans', 'schemaUrl'])
        const { name } = this.message(scope, 'InstrumentationScope', ['name', 'version'])
        if (this.text(name, 'scope') === '') this.problems.push('a scope has no name')
        return this.list(spans, 'spans').map((span) => this.span(span, String(described.get('service.name'))))
      })
    })
  }

  span(value: unknown, service: string): ReceivedSpan {
    const known = ['traceId', 'spanId', 'traceState', 'parentSpanId', 'flags', 'name', 'kind', 'startTimeUnixNano']
    const further = ['endTimeUnixNano', 'attributes', 'events', 'links', 'status']
    const span = this.message(value, 'Span', [...known, ...further])
    const kind = span['kind']
    if (typeof kind !== 'number' || kind < 1 || kind > 5) this.problems.push(`a span has the kind ${String(kind)}`)
    const status = this.message(span['status'] ?? {}, 'Status', ['code', 'message'])
    const startNanos = this.integer64(span['startTimeUnixNano'], 'startTimeUnixNano')
    const endNanos = this.integer64(span['endTimeUnixNano'], 'endTimeUnixNano')
    if (endNanos < startNanos) this.problems.push('a span ends before it starts')
    return {
      service,
      startNanos,
      endNanos,
      kind: Number(kind),
      traceId: this.hex(span['traceId'], 'traceId', 32),
      spanId: this.hex(span['spanId'], 'spanId', 16),
      parentSpanId: span['parentSpanId'] === undefined ? '' : this.hex(span['parentSpanId'], 'parentSpanId', 16),
      name: this.text(span['name'], 'name'),
      attributes: this.attributes(span['attributes'], 'Span'),
      links: this.list(span['links'], 'links').map((each) => {
        const link = this.message(each, 'Link', ['traceId', 'spanId', 'traceState', 'attributes', 'flags'])
        return { traceId: this.hex(link['traceId'], 'link', 32), spanId: this.hex(link['spanId'], 'link', 16) }
      }),
      status: { code: Number(status['code'] ?? 0), message: this.text(status['message'], 'status') },
      eventNames: this.list(span['events'], 'events').map((each) => {
        const event = this.message(each, 'Event', ['timeUnixNano', 'name', 'attributes'])
        if (this.integer64(event['timeUnixNano'], 'timeUnixNano') < startNanos)
          this.problems.push('an event is before its span')
        return this.text(event['name'], 'event')
      }),
    }
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text
}

/** A port on which nothing listens at present. */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** `firstStatuses` are the statuses of the first responses; further requests are accepted. */
export async function startCollector(port = 0, firstStatuses: readonly number[] = []): Promise<Collector> {
  const decoder = new Decoder()
  const spans = new Map<string, ReceivedSpan>()
  const batches: number[] = []
  const statuses = [...firstStatuses]
  const waiting = new Set<() => void>()
  const receive = async (request: IncomingMessage): Promise<number> => {
    const text = await textOf(request)
    const status = statuses.shift() ?? 200
    if (status !== 200) return status
    if (request.method !== 'POST' || request.url !== '/v1/traces')
      decoder.problems.push(`${request.method} ${request.url}`)
    if (request.headers['content-type'] !== 'application/json') decoder.problems.push('the content type')
    const received = decoder.request(JSON.parse(text))
    batches.push(received.length)
    for (const span of received) {
      if (spans.has(span.spanId)) decoder.problems.push(`the span ${span.spanId} was sent twice`)
      spans.set(span.spanId, span)
    }
    for (const check of waiting) check()
    return 200
  }
  const server: Server = createServer((request, response) => {
    receive(request)
      .then((status) => response.writeHead(status, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}'))
      .catch((error: Error) => {
        decoder.problems.push(error.message)
        response.writeHead(400).end()
      })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    spans,
    batches,
    problems: decoder.problems,
    until: (condition) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!condition()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
