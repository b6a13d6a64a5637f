// withoutSecrets: what the history and reports contain of a Secret: the names of its values.
import type { ApiObject } from '../../api/meta/object.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

type Values = Readonly<Record<string, unknown>>

/** The values of a Secret are never included, nor the annotation in which kubectl stores them. */
export function withoutSecrets(resource: string, object: ApiObject): ApiObject {
  if (resource !== 'secrets') return object
  const { data, stringData: _, ...rest } = object as ApiObject & { data?: Values; stringData?: Values }
  const { annotations, ...metadata } = rest.metadata
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== lastApplied)
  return {
    ...rest,
    metadata: kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) },
    ...(data !== undefined && { data: Object.fromEntries(Object.keys(data).map((name) => [name, ''])) }),
  }
}
