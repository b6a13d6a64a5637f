// Rules of a HorizontalPodAutoscaler: its target, metrics, bounds and behavior.
import { append } from '../../../base/collections/append.ts'
import { forbidden, invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { dnsLabelErrors, pathSegmentErrors } from '../../validation/names.ts'
import { quantityNanos } from '../../../schema/scalar/quantity.ts'
import { validateBehavior } from './autoscaler-behavior-rules.ts'
import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscalerSpec,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from './autoscaler-spec.ts'

export function validateAutoscaler(spec: HorizontalPodAutoscalerSpec): FieldError[] {
  const { minReplicas, maxReplicas, scaleTargetRef, metrics = [], behavior } = spec
  const errors: FieldError[] = []
  if (maxReplicas === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'))
  if (maxReplicas < 0) errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0'))
  if (maxReplicas < minReplicas)
    errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'))
  // ReplicationControllers are the only scalable resource of the core group.
  const needsGroup = scaleTargetRef.kind !== 'ReplicationController'
  append(errors, validateReference(scaleTargetRef, 'spec.scaleTargetRef', needsGroup))
  for (const [index, metric] of metrics.entries()) append(errors, validateMetric(metric, `spec.metrics[${index}]`))
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External'))
    errors.push(
      forbidden(
        'spec.metrics',
        'must specify at least one Object or External metric to support scaling to zero replicas',
      ),
    )
  return [...errors, ...validateBehavior(behavior)]
}

function validateReference(reference: CrossVersionObjectReference, path: string, needsGroup: boolean): FieldError[] {
  const errors: FieldError[] = []
  for (const name of ['kind', 'name'] as const) append(errors, validateSegment(reference[name], `${path}.${name}`))
  const { apiVersion = '' } = reference
  const parts = apiVersion.split('/')
  if (parts.length > 2)
    errors.push(invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  else if (needsGroup && (parts.length === 1 || parts[0] === ''))
    errors.push(invalid(`${path}.apiVersion`, apiVersion, 'apiVersion must specify API group'))
  return errors
}

const validateSegment = (value: string | undefined, path: string, why = ''): FieldError[] =>
  value ? pathSegmentErrors(value).map((detail) => invalid(path, value, detail)) : [required(path, why)]

const sourceTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'] as const
const sources = {
  object: validateObjectSource,
  external: validateExternalSource,
  pods: validatePodsSource,
  resource: validateResourceSource,
  containerResource: validateContainerSource,
} as const

function validateMetric(metric: MetricSpec, path: string): FieldError[] {
  const errors: FieldError[] = []
  const at = `${path}.type`
  const type = sourceTypes.find((name) => name === metric.type)
  if (!metric.type) errors.push(required(at, 'must specify a metric source type'))
  if (type === undefined) errors.push(notSupported(at, metric.type ?? '', sourceTypes))
  const present = (Object.keys(sources) as (keyof typeof sources)[]).filter((name) => metric[name] !== undefined)
  const [first] = present
  if (first !== undefined) append(errors, sources[first](metric, `${path}.${first}`))
  const wanted =
    type === undefined ? undefined : ((type.charAt(0).toLowerCase() + type.slice(1)) as keyof typeof sources)
  // Upstream reports an unknown type again at its missing source.
  if (wanted === undefined) errors.push(notSupported(at, metric.type ?? '', sourceTypes))
  else if (!present.includes(wanted))
    errors.push(required(`${path}.${wanted}`, 'must populate information for the given metric source'))
  if (present.length > 1)
    for (const name of present)
      if (name !== wanted) errors.push(forbidden(`${path}.${name}`, 'must populate the given metric source only'))
  return errors
}

function validateObjectSource({ object }: MetricSpec, path: string): FieldError[] {
  if (object === undefined) return []
  const errors = [
    ...validateReference(object.describedObject, `${path}.describedObject`, false),
    ...validateIdentifier(object.metric, `${path}.metric`),
    ...validateTarget(object.target, `${path}.target`),
  ]
  if (object.target.value === undefined && object.target.averageValue === undefined)
    errors.push(required(`${path}.target.averageValue`, 'must set either a target value or averageValue'))
  return errors
}

function validateExternalSource({ external }: MetricSpec, path: string): FieldError[] {
  if (external === undefined) return []
  const { value, averageValue } = external.target
  const errors = [
    ...validateIdentifier(external.metric, `${path}.metric`),
    ...validateTarget(external.target, `${path}.target`),
  ]
  if (value === undefined && averageValue === undefined)
    errors.push(
      required(`${path}.target.averageValue`, 'must set either a target value for metric or a per-pod target'),
    )
  if (value !== undefined && averageValue !== undefined)
    errors.push(forbidden(`${path}.target.value`, 'may not set both a target value for metric and a per-pod target'))
  return errors
}

function validatePodsSource({ pods }: MetricSpec, path: string): FieldError[] {
  if (pods === undefined) return []
  const errors = [
    ...validateIdentifier(pods.metric, `${path}.metric`),
    ...validateTarget(pods.target, `${path}.target`),
  ]
  if (pods.target.averageValue === undefined)
    errors.push(required(`${path}.target.averageValue`, 'must specify a positive target averageValue'))
  return errors
}

function validateContainerSource({ containerResource }: MetricSpec, path: string): FieldError[] {
  if (containerResource === undefined) return []
  const { container, name, target } = containerResource
  const containerErrors = container
    ? dnsLabelErrors(container).map((detail) => invalid(`${path}.container`, container, detail))
    : [required(`${path}.container`, 'must specify a container')]
  return [...validateNamedTarget(name, target, path), ...containerErrors]
}

function validateResourceSource({ resource }: MetricSpec, path: string): FieldError[] {
  return resource === undefined ? [] : validateNamedTarget(resource.name, resource.target, path)
}

function validateNamedTarget(name: string, target: MetricTarget, path: string): FieldError[] {
  const { averageUtilization, averageValue } = target
  const errors = name ? [] : [required(`${path}.name`, 'must specify a resource name')]
  append(errors, validateTarget(target, `${path}.target`))
  if (averageUtilization === undefined && averageValue === undefined)
    errors.push(
      required(`${path}.target.averageUtilization`, 'must set either a target raw value or a target utilization'),
    )
  if (averageUtilization !== undefined && averageValue !== undefined)
    errors.push(
      forbidden(`${path}.target.averageValue`, 'may not set both a target raw value and a target utilization'),
    )
  return errors
}

const validateIdentifier = ({ name }: MetricIdentifier, path: string): FieldError[] =>
  validateSegment(name, `${path}.name`, 'must specify a metric name')

function validateTarget(target: MetricTarget, path: string): FieldError[] {
  const { type, averageUtilization } = target
  const errors: FieldError[] = []
  if (!type) errors.push(required(`${path}.type`, 'must specify a metric target type'))
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    errors.push(invalid(`${path}.type`, type ?? '', 'must be either Utilization, Value, or AverageValue'))
  for (const name of ['value', 'averageValue'] as const) {
    const amount = target[name]
    if (amount !== undefined && (quantityNanos(amount) ?? 0n) <= 0n)
      errors.push(invalid(`${path}.${name}`, amount, 'must be positive'))
  }
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalid(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0'))
  return errors
}
