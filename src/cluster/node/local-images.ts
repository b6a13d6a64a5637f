// The images of this machine's node: loads archives into its containerd and lists its images.
import { existsSync } from 'node:fs'
import { realClock } from '../../base/time/clock.ts'
import { silentLog } from '../../base/observability/log.ts'
import { ctrAt } from '../../machine/cri/ctr.ts'
import { CriRuntime } from '../../machine/cri/cri-runtime.ts'
import type { RuntimeImage } from '../../machine/runtime/container-runtime.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { importImages } from './import-images.ts'
import { containerdSnapshotter, ownSnapshotter } from './real-node.ts'

/** The node of a data directory, or another containerd. */
export type ImageNode = { readonly dataDirectory: string } | { readonly socketPath: string }

/** Calls back with each image name when pods can use it. */
export async function loadImages(
  node: ImageNode,
  files: readonly string[],
  onLoaded: (name: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { runtime, socketPath } = await connected(node, signal)
  try {
    const snapshotter = 'dataDirectory' in node ? ownSnapshotter(node.dataDirectory) : containerdSnapshotter
    const ctr = ctrAt(nodePlatform.processes, socketPath)
    for (const file of files)
      for (const name of await importImages(file, { runtime, ctr, snapshotter, clock: realClock }, signal))
        onLoaded(name)
  } finally {
    runtime.close()
  }
}

export async function listImages(node: ImageNode, signal: AbortSignal): Promise<readonly RuntimeImage[]> {
  const { runtime } = await connected(node, signal)
  try {
    return await runtime.images(signal)
  } finally {
    runtime.close()
  }
}

/** Fails if the node has no containerd. Returns the path of its socket. */
export function checkImageNode(node: ImageNode): string {
  const socketPath = 'dataDirectory' in node ? `${node.dataDirectory}/node/containerd/containerd.sock` : node.socketPath
  if (!existsSync(socketPath)) throw new Error(`no containerd runs at ${socketPath}${startHint(node)}`)
  return socketPath
}

const startHint = (node: ImageNode): string =>
  'dataDirectory' in node ? ' for the cluster; start it as root: coxswain up --runtime containerd' : ''

async function connected(
  node: ImageNode,
  signal: AbortSignal,
): Promise<{ readonly runtime: CriRuntime; readonly socketPath: string }> {
  const socketPath = checkImageNode(node)
  try {
    const { http2 } = nodePlatform
    const runtime = await CriRuntime.connect(socketPath, { http2, clock: realClock, log: silentLog }, signal)
    return { runtime, socketPath }
  } catch (cause) {
    signal.throwIfAborted()
    const hint = process.getuid?.() === 0 ? startHint(node) : '; only root can reach it'
    throw new Error(`containerd does not answer at ${socketPath}${hint}`, { cause })
  }
}
