import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { startGuarded } from '../server-policies.harness.ts'

/** A store whose watches can be late, as those of an etcd on a busy machine. */
class LateStore extends MemoryStore {
  #held: PromiseWithResolvers<void> | undefined

  hold(): void {
    this.#held = Promise.withResolvers()
  }

  release(): void {
    this.#held?.resolve()
    this.#held = undefined
  }

  override watch(...args: Parameters<MemoryStore['watch']>): ReturnType<MemoryStore['watch']> {
    return super
      .watch(...args)
      .map((batch) => (this.#held === undefined ? batch : this.#held.promise.then(() => batch)))
  }
}

test('a token can be requested right after its account was created, although the watch of the store is late', async () => {
  const store = new LateStore(new VirtualClock(Date.UTC(2030, 0, 1)))
  await using server = await startGuarded({}, { store })
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  const metadata = { name: 'robot' }
  store.hold()
  equal((await server.call('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })).status, 201)
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const requested = server.call('POST', `${accounts}/robot/token`, body)
  await server.clock.settle()
  store.release()
  const { status, body: answer } = await requested
  equal(status, 201)
  match(answer.status.token as string, /^ey/)
  equal((await server.call('POST', `${accounts}/missing/token`, body)).status, 404)
})
