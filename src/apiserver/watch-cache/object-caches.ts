// ObjectLister and ObjectCaches: the watch caches of all kinds, as policies, admission and strategies read them. They read
// the caches, never a client.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'

export interface ObjectLister {
  get<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined
  /** Objects of a kind, in one namespace or in all. */
  list<T extends ApiObject>(kind: Kind<T>, namespace?: string): readonly T[]
}

/** Follows a cache synchronously: it is called before the change can be read. */
export interface CacheObserver {
  changed(now: ApiObject | undefined, before: ApiObject | undefined): void
}

export interface ObjectCaches extends ObjectLister {
  /** The observer is called with all objects when a cache is filled, and with each change. */
  observe(kind: Kind, observer: CacheObserver): void
  /** How many objects of the kind there are. */
  count(kind: Kind): number
  /** How many watches a change of the object concerns, as far as that follows from its name. */
  watchers(kind: Kind, namespace: string, name: string): number
}
