// The class of the Ingresses that this controller serves.
import type { Ingress } from '../../api/networking/v1/ingress.ts'
import type { IngressClass, IngressClassInput } from '../../api/networking/v1/ingress-class.ts'
import { lookup } from '../../base/collections/lookup.ts'

export const ingressControllerName = 'coxswain.dev/ingress'
export const ingressClassName = 'coxswain'

/** The default class, so that Ingresses without a class are served too. */
export const ownIngressClass = {
  metadata: {
    name: ingressClassName,
    annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' },
  },
  spec: { controller: ingressControllerName },
} satisfies IngressClassInput

const classAnnotation = 'kubernetes.io/ingress.class'

/** Admission has set the default class. */
export const classNameOf = ({ metadata, spec }: Ingress): string | undefined =>
  spec.ingressClassName ?? lookup(metadata.annotations, classAnnotation)

/** Whether the class of the Ingress names this controller. */
export function isServedHere(ingress: Ingress, classOf: (name: string) => IngressClass | undefined): boolean {
  const name = classNameOf(ingress)
  return name !== undefined && classOf(name)?.spec.controller === ingressControllerName
}
