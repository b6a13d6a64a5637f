// The contract suite of container runtimes, with images that the caller provides.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { plainContainer, plainSandbox } from './runtime-config.ts'
import {
  ExecTimeout,
  ImageNotFound,
  readyCondition,
  type ContainerRuntime,
  type RuntimeHealth,
} from './container-runtime.ts'

export interface RuntimeUnderTest {
  readonly runtime: ContainerRuntime
  /** An image that serves until terminated, one that exits with 3 immediately, and one that does not exist. */
  readonly images: { readonly server: string; readonly exits3: string; readonly missing: string }
  readonly logDirectory?: string
  readonly cgroupParent?: string
  /** Commands of the server image: one that prints `out` and exits with 7, and one that does not exit. */
  readonly commands: { readonly exits7: readonly string[]; readonly hangs: readonly string[] }
}

const { signal } = new AbortController()

export function runtimeContract(driver: string, open: () => Promise<RuntimeUnderTest>): void {
  const start = async (
    { runtime, logDirectory = '', cgroupParent = '' }: RuntimeUnderTest,
    image: string,
    attempt = 0,
  ) => {
    const config = { ...plainSandbox('uid-1', 'default', 'web'), logDirectory, cgroupParent }
    const sandbox = (await runtime.inspect('uid-1', signal))?.sandboxId ?? (await runtime.runSandbox(config, signal))
    const imageId = await runtime.pullImage(image, undefined, signal)
    const container = await runtime.createContainer(
      sandbox,
      { ...plainContainer('c', image, attempt), imageId },
      config,
      signal,
    )
    await runtime.startContainer(container, signal)
    return { sandbox, container }
  }
  const changed = (runtime: ContainerRuntime) =>
    new Promise<string>((resolve) => {
      const leave = runtime.onChange((uid) => {
        leave()
        resolve(uid)
      })
    })

  test(`${driver}: a container runs in its pod's sandbox until it is stopped`, async () => {
    const under = await open()
    equal(await under.runtime.inspect('uid-1', signal), undefined)
    const { sandbox, container } = await start(under, under.images.server)
    const pod = await under.runtime.inspect('uid-1', signal)
    equal(pod?.sandboxId, sandbox)
    deepEqual(
      pod?.containers.map(({ name, state, attempt }) => ({ name, state, attempt })),
      [{ name: 'c', state: 'running', attempt: 0 }],
    )
    deepEqual(await under.runtime.podUids(signal), ['uid-1'])
    await under.runtime.stopContainer(container, 10_000, signal)
    equal((await under.runtime.inspect('uid-1', signal))?.containers[0]?.state, 'exited')
    await under.runtime.removeSandbox(sandbox, signal)
    await under.runtime.removeSandbox(sandbox, signal)
    deepEqual(await under.runtime.podUids(signal), [])
  })

  test(`${driver}: usage is reported for running containers only`, async () => {
    const under = await open()
    const { sandbox, container } = await start(under, under.images.server)
    const own = (await under.runtime.stats(signal)).filter(({ containerId }) => containerId === container)
    deepEqual(
      own.map(({ podUid, name, usage }) => [podUid, name, usage.cpuNanos >= 0, usage.workingSetBytes >= 0]),
      [['uid-1', 'c', true, true]],
    )
    await under.runtime.stopContainer(container, 10_000, signal)
    await under.runtime.removeSandbox(sandbox, signal)
    deepEqual(await under.runtime.stats(signal), [])
  })

  test(`${driver}: an exit is reported with its code; a removed container is gone`, async () => {
    const under = await open()
    const notified = changed(under.runtime)
    const { sandbox, container } = await start(under, under.images.exits3, 2)
    equal(await notified, 'uid-1')
    for (;;) {
      // Changes during an inspection are not missed.
      const again = changed(under.runtime)
      const [seen] = (await under.runtime.inspect('uid-1', signal))?.containers ?? []
      if (seen?.state === 'exited') {
        deepEqual([seen.exitCode, seen.attempt], [3, 2])
        break
      }
      await again
    }
    await under.runtime.removeContainer(container, signal)
    deepEqual((await under.runtime.inspect('uid-1', signal))?.containers, [])
    await under.runtime.removeSandbox(sandbox, signal)
  })

  test(`${driver}: a command returns its output and exit code, or times out`, async () => {
    const under = await open()
    const { sandbox, container } = await start(under, under.images.server)
    const { exitCode, stdout } = await under.runtime.exec(container, under.commands.exits7, 10_000, signal)
    deepEqual([exitCode, new TextDecoder().decode(stdout).trim()], [7, 'out'])
    await rejects(under.runtime.exec(container, under.commands.hangs, 1_000, signal), ExecTimeout)
    await under.runtime.removeSandbox(sandbox, signal)
  })

  test(`${driver}: a stopped sandbox is not ready and its containers have exited; the next one is another attempt`, async () => {
    const under = await open()
    const { sandbox } = await start(under, under.images.server)
    await under.runtime.stopSandbox(sandbox, signal)
    const pod = await under.runtime.inspect('uid-1', signal)
    deepEqual([pod?.isReady, pod?.containers.map(({ state }) => state)], [false, ['exited']])
    const { logDirectory = '', cgroupParent = '' } = under
    const config = { ...plainSandbox('uid-1', 'default', 'web'), logDirectory, cgroupParent, attempt: 1 }
    const second = await under.runtime.runSandbox(config, signal)
    equal((await under.runtime.inspect('uid-1', signal))?.sandboxId, second)
    deepEqual(await under.runtime.podUids(signal), ['uid-1'])
    for (const id of [sandbox, second]) await under.runtime.removeSandbox(id, signal)
  })

  test(`${driver}: a pulled image is found and can be removed; the runtime is healthy`, async () => {
    const { runtime, images } = await open()
    const id = await runtime.pullImage(images.server, undefined, signal)
    equal((await runtime.findImage(images.server, signal))?.id, id)
    equal(
      (await runtime.images(signal)).some((image) => image.id === id),
      true,
    )
    await runtime.removeImage(id, signal)
    equal(await runtime.findImage(images.server, signal), undefined)
    const watching = new AbortController()
    const health = await new Promise<RuntimeHealth | undefined>((resolve) => {
      runtime.watchHealth(resolve, watching.signal).catch(() => {}) // it ends when its signal is aborted
    })
    watching.abort()
    deepEqual(health, { runtime: readyCondition, network: readyCondition })
  })

  test(`${driver}: a missing image is not pulled`, async () => {
    const { runtime, images } = await open()
    await rejects(runtime.pullImage(images.missing, undefined, signal), ImageNotFound)
  })
}
