// The contract suite: what every container runtime must do, with images that the caller provides.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { ImageNotFound, type ContainerRuntime } from './runtime.ts'

export interface RuntimeUnderTest {
  readonly runtime: ContainerRuntime
  /** An image that serves until terminated, one that exits with 3 at once, and one that is nowhere. */
  readonly images: { readonly server: string; readonly exits3: string; readonly missing: string }
}

const { signal } = new AbortController()

export function runtimeContract(driver: string, open: () => Promise<RuntimeUnderTest>): void {
  const start = async ({ runtime }: RuntimeUnderTest, image: string, attempt = 0) => {
    const config = { namespace: 'default', name: 'web', podUid: 'uid-1' }
    const sandbox = (await runtime.inspect('uid-1', signal))?.sandboxId ?? (await runtime.runSandbox(config, signal))
    await runtime.pullImage(image, signal)
    const container = await runtime.createContainer(
      sandbox,
      { name: 'c', image, attempt, command: [], arguments: [], environment: {} },
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

  test(`${driver}: an exit is told, with its code; a removed container is gone`, async () => {
    const under = await open()
    const told = changed(under.runtime)
    const { sandbox, container } = await start(under, under.images.exits3, 2)
    equal(await told, 'uid-1')
    for (;;) {
      const [seen] = (await under.runtime.inspect('uid-1', signal))?.containers ?? []
      if (seen?.state === 'exited') {
        deepEqual([seen.exitCode, seen.attempt], [3, 2])
        break
      }
      await changed(under.runtime)
    }
    await under.runtime.removeContainer(container, signal)
    deepEqual((await under.runtime.inspect('uid-1', signal))?.containers, [])
    await under.runtime.removeSandbox(sandbox, signal)
  })

  test(`${driver}: an image that is nowhere is not pulled`, async () => {
    const { runtime, images } = await open()
    await rejects(runtime.pullImage(images.missing, signal), ImageNotFound)
  })
}
