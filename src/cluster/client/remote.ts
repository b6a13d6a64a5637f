// Remote: the connection of a component in its own process to an API server, over HTTPS with a kubeconfig.
import { joinHostPort } from '../../base/net/host-port.ts'
import { realClock } from '../../base/time/clock.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { recordNameBytes } from '../../base/observability/span.ts'
import { Client } from '../../client/client.ts'
import { apiServerCertificateName } from '../../client/server-balancer/readiness-probe.ts'
import type { ClientMetrics } from '../../client/transport/client-metrics.ts'
import { HttpsTransport, type HttpsTransportOptions } from '../../client/transport/https-transport.ts'
import { exportFlow } from '../../client/flow-export/flow-exporter.ts'
import { respondToDecisionQueries } from '../../client/flow-export/decision-responder.ts'
import { readKubeconfig } from '../../client/transport/kubeconfig-access.ts'
import type { Transport } from '../../client/transport/transport.ts'
import type { Identity } from '../../pki/authority.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { Outbound } from '../../platform/http/outbound.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import { RenewableOutbound } from './renewable-outbound.ts'

export interface Remote extends AsyncDisposable {
  readonly server: string
  /** The authority of the server's certificate, as PEM. */
  readonly authority: string | undefined
  clientAs(sender: string): Client
  transportAs(sender: string): Transport
  /** A client with these headers only. It uses no client certificate, which would take precedence. */
  clientWith(sender: string, shown: Pick<HttpsTransportOptions, 'headers' | 'onUnauthorized'>): Client
  /** Exports the flow events of this process to the server, until the signal is aborted. */
  exportFlow(flow: FlowRecorder, log: Log, signal: AbortSignal): Promise<void>
  /** Uses this certificate for new connections. */
  renew(identity: Identity): void
  /** Expects the server to have a certificate of these authorities (PEM) from now on. */
  trust(authorities: string): void
  /** Answers the server's queries about scheduling decisions, until the signal is aborted. */
  answerQueries(explain: (podKey: string) => object | undefined, log: Log, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface RemoteOptions {
  /** Measures the requests. */
  readonly metrics?: ClientMetrics
  /** The balancer of this machine, instead of the server of the kubeconfig. */
  readonly through?: Peer
}

export async function openRemote(
  kubeconfig: string,
  signal: AbortSignal,
  { metrics, through }: RemoteOptions = {},
): Promise<Remote> {
  const deps = { files: nodePlatform.files, processes: nodePlatform.processes, clock: realClock }
  const { server, authority, certificate, key, headers } = await readKubeconfig(kubeconfig, deps, signal)
  const origin = through === undefined ? server : `https://${joinHostPort(through.address, through.port)}`
  let serverTls = {
    ...(authority === undefined ? {} : { authority }),
    ...(through === undefined ? {} : { serverName: apiServerCertificateName }),
  }
  let own: Partial<Identity> = {
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  }
  const connect = (identity: Partial<Identity>) =>
    nodePlatform.outbound.connect({ origin, tls: { ...serverTls, ...identity } })
  const measured = (outbound: Outbound, isForStreams = false) =>
    metrics === undefined ? outbound : metrics.measured(outbound, { origin: server, isForStreams })
  const calls = new RenewableOutbound(connect(own), realClock)
  const watches = new RenewableOutbound(connect(own), realClock)
  let bare: RenewableOutbound | undefined
  let measuredBare: Outbound | undefined
  const withoutCertificate = () => {
    bare ??= new RenewableOutbound(connect({}), realClock)
    measuredBare ??= measured(bare)
    return measuredBare
  }
  const close = async () => {
    await Promise.all([calls.close(), watches.close(), bare?.close()])
  }
  const record = Buffer.from(systemRandom.bytes(recordNameBytes)).toString('hex')
  const measuredCalls = measured(calls)
  const measuredWatches = measured(watches, true)
  const transportOf = (sender: string) =>
    new HttpsTransport(measuredCalls, sender, { headers, watches: measuredWatches, record })
  return {
    server,
    authority,
    clientAs: (sender) => new Client(transportOf(sender)),
    transportAs: transportOf,
    clientWith: (sender, shown) => new Client(new HttpsTransport(withoutCertificate(), sender, { ...shown, record })),
    exportFlow(flow, log, stop) {
      const transport = transportOf('flow')
      const send = transport.sendFlowEvents.bind(transport)
      return exportFlow({ flow, record, send, clock: realClock, log }, stop)
    },
    renew(identity) {
      own = identity
      for (const outbound of [calls, watches]) outbound.renew(connect(own))
    },
    trust(authorities) {
      serverTls = { ...serverTls, authority: authorities }
      for (const outbound of [calls, watches]) outbound.renew(connect(own))
      bare?.renew(connect({}))
    },
    answerQueries(explain, log, stop) {
      const transport = transportOf('scheduler')
      const questions = transport.decisionQueries.bind(transport)
      const answer = transport.sendDecision.bind(transport)
      return respondToDecisionQueries({ queries: questions, respond: answer, explain, clock: realClock, log }, stop)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
