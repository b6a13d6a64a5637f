// BrokenCluster: a simulated cluster that is in a situation of the lab, and whether it has been repaired.
import { kinds } from '../../api/kinds.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { realClock } from '../../base/time/clock.ts'
import { startClusterAt, type StartClusterOptions, type TestCluster } from '../testing/start-cluster.ts'
import { images } from './situations.ts'
import type { AskedObject, Situation } from './situations/situation.ts'

/** Time for the components to process an object, and for probes, restarts and retries to fail. */
const stepMs = 2_000
const breakMs = 60_000

/** The same names and times in each run, because the seed is the same. */
const seed = 7

/** `time` is that of the test library: virtual, or flowing for clients that connect over HTTPS. */
export async function startBroken(
  { objects, deleted = [], refused }: Situation,
  { time = 'virtual' }: Pick<StartClusterOptions, 'time'> = {},
): Promise<TestCluster> {
  // When it is broken, its time is that of the machine, with which clients compute ages.
  const startMs = realClock.nowMs() - objects.length * stepMs - breakMs
  const cluster = await startClusterAt(startMs, { nodes: 2, seed, time, simulation: { images } })
  for (const object of objects) {
    await cluster.apply([object], { force: true })
    await cluster.clock.advance(stepMs)
  }
  for (const asked of deleted) {
    const { kind, name } = named(asked)
    await cluster.client.of(kind).delete(name, asked.namespace)
  }
  if (refused !== undefined) {
    const client = cluster.as(`system:serviceaccount:default:${refused.account}`)
    await client.read(refused.path).catch((error: unknown) => {
      if (!(error instanceof StatusError && error.code === 403)) throw error
    })
  }
  await cluster.clock.advance(breakMs)
  return cluster
}

function named({ object }: AskedObject): { readonly kind: Kind; readonly name: string } {
  const [word = '', name = ''] = object.split('/')
  const kind = kinds.find(({ singular, shortNames }) => singular === word || shortNames.includes(word))
  if (kind === undefined) throw new Error(`no kind ${word}`)
  return { kind, name }
}

/** The explanation of the object that does not work; undefined if it does not exist. */
export async function explainBroken(cluster: TestCluster, { asked }: Situation): Promise<string | undefined> {
  const { kind, name } = named(asked)
  if ((await cluster.client.of(kind).find(name, asked.namespace)) === undefined) return undefined
  return cluster.why(kind, name, asked.namespace)
}

/** Whether the cluster has been repaired. */
export async function isRepaired(cluster: TestCluster, situation: Situation): Promise<boolean> {
  const text = await explainBroken(cluster, situation)
  return text === undefined ? situation.mayVanish === true : !text.includes(situation.symptom)
}
