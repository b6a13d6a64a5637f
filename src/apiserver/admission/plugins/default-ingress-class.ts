// DefaultIngressClass: an Ingress without a class gets the cluster's default class; two default classes are an error.
import { ingressClass } from '../../../api/networking/v1/ingress-class.ts'
import { ingress, type Ingress } from '../../../api/networking/v1/ingress.ts'
import { defineAdmissionPlugin, admissionForbidden } from '../framework/admission-plugin.ts'

const defaultAnnotation = 'ingressclass.kubernetes.io/is-default-class'
const classAnnotation = 'kubernetes.io/ingress.class'

export const defaultIngressClass = defineAdmissionPlugin({
  name: 'DefaultIngressClass',
  handles: { operations: ['create'], kinds: [ingress] },
  admit(attributes, host) {
    const object = attributes.object as Ingress
    if (object.spec.ingressClassName !== undefined || object.metadata.annotations?.[classAnnotation] !== undefined)
      return object
    const defaults = host
      .list(ingressClass, '')
      .filter(({ metadata }) => metadata.annotations?.[defaultAnnotation] === 'true')
    if (defaults.length > 1)
      throw admissionForbidden(attributes, `${defaults.length} default IngressClasses were found, only 1 allowed`)
    const [found] = defaults
    return found === undefined ? object : { ...object, spec: { ...object.spec, ingressClassName: found.metadata.name } }
  },
})
