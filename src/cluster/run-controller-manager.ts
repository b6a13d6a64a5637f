// A controller manager of its own process: reached over HTTPS by kubeconfig, with an election among several.
import { hostname } from 'node:os'
import { controllersSender } from '../api/flow-wire.ts'
import { realClock } from '../base/clock.ts'
import { FlowRecorder } from '../base/flow.ts'
import { newUid } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import { Metrics } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import { TaskGroup } from '../base/task-group.ts'
import { controllerMetrics } from '../controllers/runtime.ts'
import { Authority, type Identity } from '../pki/authority.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import { certificateLifeMsOf } from './certificate-life.ts'
import { startControllerManager } from './controller-manager.ts'
import { nodeRangesOf, type NodeRangeFlagValues } from './node-ranges.ts'
import { openRemote } from './remote.ts'

export interface RunControllerManagerOptions {
  readonly kubeconfig: string
  readonly log: Log
  /** Flags that say which addresses pods get; without them nodes bring theirs. */
  readonly nodeRangeFlags?: NodeRangeFlagValues
  /** How long certificates are good that are signed here: `8760h`. */
  readonly signingDuration?: string | undefined
  /** The authority that signs certificates; without it none is signed here. */
  readonly signing?: Identity
  /** Called when this manager begins to act. */
  readonly onLead: () => void
}

/** How long giving up the lease may take at the end. */
const releaseMs = 2_000

/** Runs until the signal; throws when the lead is lost. */
export async function runControllerManager(
  { kubeconfig, log, nodeRangeFlags = {}, signing, signingDuration, onLead }: RunControllerManagerOptions,
  signal: AbortSignal,
): Promise<void> {
  const nodeRanges = nodeRangesOf(nodeRangeFlags, { isOn: false, clusterCidr: '' })
  const authorityParts = { clock: realClock, random: systemRandom, crypto: nodePlatform.crypto }
  const signer = signing === undefined ? {} : { signer: Authority.load(signing, authorityParts) }
  const { authority, clientAs, tellFlow, close } = await openRemote(kubeconfig, signal)
  const tasks = new TaskGroup({ signal })
  const flow = new FlowRecorder(realClock)
  tasks.start('flow', (stop) => tellFlow(flow, log, stop))
  const manager = startControllerManager(tasks, {
    clock: realClock,
    random: systemRandom,
    log,
    flow,
    metrics: controllerMetrics(new Metrics()),
    settings: {
      crypto: nodePlatform.crypto,
      nodeRanges,
      certificateLifeMs: certificateLifeMsOf(signingDuration),
      ...signer,
      ...(authority === undefined ? {} : { authority }),
    },
    client: clientAs(controllersSender),
    clientOf: ({ name }) => clientAs(`controller/${name}`),
    identity: `${hostname()}_${newUid(systemRandom)}`,
    onLead,
  })
  try {
    await tasks.join()
  } finally {
    const bound = new AbortController()
    const timer = realClock.after(releaseMs, () => bound.abort())
    await manager.release(bound.signal).catch(() => undefined)
    timer.cancel()
    await close()
  }
}
