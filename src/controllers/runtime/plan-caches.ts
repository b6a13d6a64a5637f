// planCaches: the part of a plan's view that reads the informers' caches.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject, ObjectKey } from '../../api/meta/object.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { PlanView } from './controller.ts'

export const namespaceIndex = 'namespace'

export const planCaches = (informers: Informers): Pick<PlanView, 'find' | 'all' | 'within' | 'byIndex'> => ({
  find: <T extends ApiObject>(kind: Kind<T>, key: ObjectKey) => informers.of(kind).get(key),
  all: <T extends ApiObject>(kind: Kind<T>) => [...informers.of(kind).all()],
  within: <T extends ApiObject>(kind: Kind<T>, namespace: string) =>
    informers.of(kind).byIndex(namespaceIndex, namespace),
  byIndex: ({ kind, name }, value) => informers.of(kind).byIndex(name, value),
})
