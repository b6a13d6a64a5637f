// Default requests and limits of containers from LimitRanges, and the annotation that lists them.
import type { Container } from '../../../../api/core/v1/container/container.ts'
import type { LimitRange } from '../../../../api/core/v1/quota/limit-range.ts'
import type { Pod } from '../../../../api/core/v1/pod/pod.ts'

const annotation = 'kubernetes.io/limit-ranger'

type Amounts = Readonly<Record<string, string>>

export function withContainerDefaults(object: Pod, { spec: { limits } }: LimitRange): Pod {
  const items = (limits ?? []).filter(({ type }) => type === 'Container')
  const limitDefaults: Amounts = Object.assign({}, ...items.map((item) => item.default ?? {}))
  const requestDefaults: Amounts = Object.assign({}, ...items.map((item) => item.defaultRequest ?? {}))
  const notes: string[] = []
  const filled =
    (what: string) =>
    <C extends Container>(container: C): C => {
      const { limits: ownLimits = {}, requests: ownRequests = {} } = container.resources
      const newRequests = missing(requestDefaults, ownRequests)
      const newLimits = missing(limitDefaults, ownLimits)
      addNote(notes, newRequests, `request for ${what} ${container.name}`)
      addNote(notes, newLimits, `limit for ${what} ${container.name}`)
      const resources = {
        ...container.resources,
        ...merged('requests', ownRequests, newRequests),
        ...merged('limits', ownLimits, newLimits),
      }
      return { ...container, resources }
    }
  const containers = object.spec.containers.map(filled('container'))
  const initContainers = object.spec.initContainers?.map(filled('init container'))
  if (notes.length === 0) return object
  return {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, [annotation]: `LimitRanger plugin set: ${notes.join('; ')}` },
    },
    spec: { ...object.spec, containers, ...(initContainers === undefined ? {} : { initContainers }) },
  }
}

const missing = (defaults: Amounts, own: Amounts): Amounts =>
  Object.fromEntries(Object.entries(defaults).filter(([name]) => !Object.hasOwn(own, name)))

function addNote(notes: string[], added: Amounts, where: string): void {
  const names = Object.keys(added)
  if (names.length > 0) notes.push(`${names.toSorted().join(', ')} ${where}`)
}

const merged = (field: 'requests' | 'limits', own: Amounts, added: Amounts): Partial<Record<typeof field, Amounts>> =>
  Object.keys(added).length === 0 ? {} : { [field]: { ...own, ...added } }
