// Removes the traces of a real node on this machine: containers, their network, control groups and mounts.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { realClock } from '../../base/time/clock.ts'
import { silentLog } from '../../base/observability/log.ts'
import { NodeCgroups } from '../../machine/cgroups/node-cgroups.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { lockMachine } from '../node/machine-network.ts'
import { removeNodeNetwork } from '../node/remove-node-network.ts'
import { cgroupFile, startContainerd } from '../node/real-node.ts'
import { removePods, stopPods } from '../node/stop-pods.ts'
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'
import { missingContainerPrerequisites } from '../node/container-prerequisites.ts'

const classes = ['', '/burstable', '/besteffort']

/** No effect without a node. The containers are removed through their runtime, which is started for that. */
export async function removeNode(dataDirectory: string, signal: AbortSignal): Promise<void> {
  const directory = `${dataDirectory}/node`
  if (!existsSync(directory)) return
  if (existsSync(`${directory}/containerd`) && missingContainerPrerequisites() === undefined)
    await clearContainers(directory, signal)
  await unmountBelow(directory, signal)
}

async function clearContainers(directory: string, signal: AbortSignal): Promise<void> {
  await using _machine = await lockMachine()
  const uids = await withRuntime(directory, (runtime) => removePods(runtime, signal), signal)
  await removeNodeNetwork(realClock, signal)
  const root = new TextDecoder().decode(await nodePlatform.files.read(cgroupFile(directory))).trim()
  const cgroups = await NodeCgroups.open()
  for (const uid of root === '' ? [] : uids) for (const one of classes) await cgroups.remove(`${root}${one}/pod${uid}`)
}

/**
 * Ends the containers that a stop has left running, and removes their network; the next start runs them again. Returns the
 * number of their pods.
 */
export async function endContainers(dataDirectory: string, signal: AbortSignal): Promise<number> {
  const directory = `${dataDirectory}/node`
  if (!existsSync(`${directory}/containerd`)) return 0
  const missing = missingContainerPrerequisites()
  if (missing !== undefined) throw new Error(`the containers cannot be ended: ${missing}`)
  await using _machine = await lockMachine()
  const count = await withRuntime(directory, (runtime) => stopPods(runtime, signal), signal)
  await removeNodeNetwork(realClock, signal)
  return count
}

async function withRuntime<T>(
  directory: string,
  use: (runtime: ContainerRuntime) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const deps = { platform: nodePlatform, clock: realClock, log: silentLog }
  const { runtime, stop } = await startContainerd(directory, `${directory}/net.d`, deps, signal)
  try {
    return await use(runtime)
  } finally {
    await stop()
  }
}

/** Innermost first. */
async function unmountBelow(directory: string, signal: AbortSignal): Promise<void> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n')
  const places = lines
    .map((line) => unescaped(line.split(' ')[4] ?? ''))
    .filter((place) => place.startsWith(`${directory}/`))
  for (const place of places.toReversed()) await nodePlatform.processes.run('umount', [place], {}, signal)
}

/** Decodes the octal escapes of /proc/mounts. */
const unescaped = (path: string): string =>
  path.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
