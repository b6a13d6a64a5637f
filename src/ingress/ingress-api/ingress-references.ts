// The names of the objects that an Ingress refers to, in its own namespace.
import type { Ingress } from '../../api/networking/v1/ingress.ts'

export function serviceNamesOf({ spec: { rules = [], defaultBackend } }: Ingress): ReadonlySet<string> {
  const names = new Set<string>()
  if (defaultBackend?.service !== undefined) names.add(defaultBackend.service.name)
  for (const { http } of rules)
    for (const { backend } of http?.paths ?? []) if (backend.service !== undefined) names.add(backend.service.name)
  return names
}

export function secretNamesOf({ spec: { tls = [] } }: Ingress): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { secretName = '' } of tls) if (secretName !== '') names.add(secretName)
  return names
}
