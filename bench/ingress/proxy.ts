// The data plane of our Ingress in a process of its own, with one Ingress for one Service with one endpoint.
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../src/api/discovery/v1/endpoint-slice-labels.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { DataPlane } from '../../src/ingress/data-plane/data-plane.ts'
import { ingressMetrics } from '../../src/ingress/data-plane/ingress-metrics.ts'
import { routeHostOf } from '../../src/ingress/routing/route.ts'
import { RouteTable } from '../../src/ingress/routing/route-table.ts'
import { SimulatedInformers } from '../../src/ingress/simulated-informers.harness.ts'
import { nodeHttpPools } from '../../src/platform/node/http/http-pool.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'

const endpointPort = Number(process.argv[2])
const informers = new SimulatedInformers()
const metadata = { name: 'web', namespace: 'default', labels: { [serviceNameLabel]: 'web' } }
informers.set('services', { metadata, spec: { ports: [{ name: 'web', port: 80 }] } })
informers.set('endpointslices', {
  metadata,
  endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
  ports: [{ name: 'web', port: endpointPort }],
})
const dataPlane = new DataPlane(
  {
    clock: realClock,
    random: systemRandom,
    log: silentLog,
    flow: new FlowRecorder(realClock),
    metrics: ingressMetrics(new Metrics()),
    services: informers.of(service),
    endpointSlices: informers.of(endpointSlice),
    listeners: nodePlatform.listeners,
    http1: nodeHttpPools,
    http2: nodePlatform.http2,
    outbound: nodePlatform.outbound,
    sockets: nodePlatform.sockets,
  },
  { host: '127.0.0.1', fallback: { certificate: '', key: '' }, accessLog: 'errors' },
)
const backend = { namespace: 'default', service: 'web', port: 80, protocol: 'http1' } as const
const routes = new RouteTable([
  {
    name: 'ingress/default/web',
    host: routeHostOf('web.example.com', 'one'),
    order: '',
    filters: [],
    match: { path: { kind: 'prefix', value: '/' }, headers: [], query: [] },
    backends: [{ backend, weight: 1, filters: [] }],
    emptyStatus: 404,
    requestMsMax: undefined,
    backendMsMax: undefined,
  },
])
const frontend = { name: 'http', port: 0 } as const
await dataPlane.apply('ingress', [{ ...frontend, scheme: 'http', routes, certificates: new Map() }])
const state = dataPlane.stateOf(frontend)
if (state?.kind !== 'open') throw new Error('the port is not open')
process.send?.(state.port)
