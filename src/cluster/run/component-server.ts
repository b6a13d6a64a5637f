// The HTTPS port of a component that runs in its own process: public health checks, metrics for users whom the API
// server authorizes. Its self-signed certificate is renewed before it expires.
import { every, type Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { negotiateExposition, type ExpositionFormat, type MetricFamily } from '../../base/observability/exposition.ts'
import { HealthCheckMetrics } from '../../base/observability/health-check-metrics.ts'
import { silentLog } from '../../base/observability/log.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { tokenReview } from '../../api/authentication/v1/token-review.ts'
import { subjectAccessReview } from '../../api/authorization/v1/subject-access-review.ts'
import type { Client } from '../../client/client.ts'
import type { Listener, WireResponse, WireRequest } from '../../platform/http/listener.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { shedReport } from '../../platform/limits/shed-report.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { needsRenewal } from '../certificates/pki-directory.ts'

export interface ComponentServerOptions {
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  readonly metrics: Metrics
  /** Of /metrics/resources, where the component has it. */
  readonly resources?: () => Iterable<MetricFamily>
  readonly clock: Clock
  /** For token and access reviews. */
  readonly client: Client
}

const text = (status: number, body: string): WireResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})

function metricsResponse(write: (format: ExpositionFormat) => string, accept: string): WireResponse {
  const format = negotiateExposition(accept)
  return { status: 200, headers: { 'content-type': format.contentType }, body: write(format) }
}

/** How often the certificate is checked. */
const checkMs = 24 * 3_600_000

export async function serveComponent({
  host,
  port,
  metrics,
  resources,
  clock,
  client,
}: ComponentServerOptions): Promise<Listener> {
  const deps = { clock, random: systemRandom, platform: nodePlatform, hosts: [host] }
  const newTls = () => ({ ...temporaryCertificates(deps).serving, clientAuthorities: {} })
  let tls = newTls()
  const slis = new HealthCheckMetrics()
  const written = new Map<string, (format: ExpositionFormat) => string>([
    ['/metrics', (format) => metrics.text(format)],
    ['/metrics/slis', (format) => slis.metrics.text(format)],
  ])
  if (resources !== undefined) written.set('/metrics/resources', (format) => format.write(resources()))
  const listener = await nodePlatform.listeners.listen({
    host,
    port,
    tls,
    onShed: shedReport({ log: silentLog, metrics, clock }),
    async handle(request) {
      const path = request.target.split('?', 1)[0] ?? ''
      if (['/healthz', '/livez', '/readyz'].includes(path)) {
        slis.record('ping', path.slice(1), true)
        return text(200, 'ok')
      }
      const user = await userOf(request, client)
      if (user === undefined) return text(401, 'Unauthorized')
      if (!(await mayRead(user, path, client, request.signal)))
        return text(403, `forbidden: User ${JSON.stringify(user.username)} cannot get path ${JSON.stringify(path)}`)
      const served = written.get(path)
      return served === undefined
        ? text(404, '404 page not found')
        : metricsResponse(served, request.headers['accept'] ?? '')
    },
  })
  const timer = every(clock, checkMs, () => {
    if (!needsRenewal(tls.certificate, clock.nowMs())) return
    tls = newTls()
    void listener.renew(tls)
  })
  return {
    ...listener,
    close(graceMs) {
      timer.cancel()
      return listener.close(graceMs)
    },
  }
}

interface Reader {
  readonly username: string
  readonly groups: readonly string[]
}

async function userOf({ headers, signal }: WireRequest, client: Client): Promise<Reader | undefined> {
  const token = /^bearer\s+(\S.*)$/i.exec(headers['authorization'] ?? '')?.[1]
  if (token === undefined) return undefined
  const { status } = await client.of(tokenReview).create({ metadata: {}, spec: { token } }, '', context(signal))
  const { username = '', groups = [] } = status?.user ?? {}
  return status?.authenticated === true ? { username, groups } : undefined
}

async function mayRead(
  { username, groups }: Reader,
  path: string,
  client: Client,
  signal: AbortSignal,
): Promise<boolean> {
  const spec = { user: username, groups: [...groups], nonResourceAttributes: { path, verb: 'get' } }
  const { status } = await client.of(subjectAccessReview).create({ metadata: {}, spec }, '', context(signal))
  return status.allowed
}
