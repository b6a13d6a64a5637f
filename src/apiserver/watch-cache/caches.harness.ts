// Caches without a store, for tests of policies: objects are set and removed directly.
import type { Kind } from '../../api/kind/kind.ts'
import { keyOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import type { ObjectManifest } from '../bootstrap/bootstrap-object.ts'
import type { ObjectCaches, CacheObserver } from './object-caches.ts'

export class TestCaches implements ObjectCaches {
  readonly #objects = new Map<Kind, Map<string, ApiObject>>()
  readonly #observers = new Map<Kind, CacheObserver[]>()

  get<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    return this.#objects.get(kind)?.get(objectKey(namespace, name)) as T | undefined
  }

  list<T extends ApiObject>(kind: Kind<T>, namespace = ''): readonly T[] {
    const all = [...(this.#objects.get(kind)?.values() ?? [])] as unknown as T[]
    return all.filter((object) => namespace === '' || object.metadata.namespace === namespace)
  }

  count(kind: Kind): number {
    return this.#objects.get(kind)?.size ?? 0
  }

  watchers(): number {
    return 0
  }

  observe(kind: Kind, observer: CacheObserver): void {
    this.#observers.set(kind, [...(this.#observers.get(kind) ?? []), observer])
  }

  set(kind: Kind, object: ObjectManifest | ApiObject): void {
    const now = object as ApiObject
    const kept = this.#objects.get(kind) ?? new Map<string, ApiObject>()
    this.#objects.set(kind, kept)
    const before = kept.get(keyOf(now))
    kept.set(keyOf(now), now)
    for (const observer of this.#observers.get(kind) ?? []) observer.changed(now, before)
  }

  remove(kind: Kind, namespace: string, name: string): void {
    const before = this.get(kind, namespace, name)
    this.#objects.get(kind)?.delete(objectKey(namespace, name))
    for (const observer of this.#observers.get(kind) ?? []) observer.changed(undefined, before)
  }
}
