// The CustomResourceDefinition of Gateway.
import { assignedAddresses, requestedAddresses } from './gateway-addresses.ts'
import {
  ageColumn,
  annotations,
  atomicList,
  choice,
  column,
  conditionColumn,
  conditions,
  definition,
  gatewayGroup,
  group,
  hostname,
  keyedList,
  kindName,
  namespaceName,
  object,
  objectName,
  pendingConditions,
  portNumber,
  rule,
  sectionName,
  subdomain,
  text,
  withRules,
  type Schema,
} from './schema-parts.ts'

/** The keys of labels or annotations for what serves the Gateway. */
const withKeyRules = (schema: Schema, noun: 'Annotation' | 'Label'): Schema =>
  withRules(
    schema,
    rule(
      `${noun} keys must be in the form of an optional DNS subdomain prefix followed by a required name segment of up to 63 characters.`,
      `self.all(key, key.matches(r"""^(${subdomain}/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"""))`,
    ),
    rule(
      `If specified, the ${noun.toLowerCase()} key's prefix must be a DNS subdomain not longer than 253 characters in total.`,
      "self.all(key, key.split('/')[0].size() < 253)",
    ),
  )

const labelValue = text(63, 0, '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$')

const routeKind = object({ group: { ...group, default: gatewayGroup }, kind: kindName }, ['kind'])

const selector: Schema = {
  ...object({
    // A selector of the API machinery, whose lists have no limits.
    matchExpressions: {
      type: 'array',
      items: object(
        {
          key: { type: 'string' },
          operator: { type: 'string' },
          values: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
        },
        ['key', 'operator'],
      ),
      'x-kubernetes-list-type': 'atomic',
    },
    matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
  }),
  'x-kubernetes-map-type': 'atomic',
}

const allowedRoutes: Schema = {
  ...object({
    kinds: atomicList(routeKind, 8),
    namespaces: {
      ...object({ from: { ...choice('All', 'Selector', 'Same'), default: 'Same' }, selector }),
      default: { from: 'Same' },
    },
  }),
  default: { namespaces: { from: 'Same' } },
}

const certificateRef = object(
  {
    group: { ...group, default: '' },
    kind: { ...kindName, default: 'Secret' },
    name: objectName,
    namespace: namespaceName,
  },
  ['name'],
)

const tls = withRules(
  object({
    certificateRefs: atomicList(certificateRef, 64),
    mode: { ...choice('Terminate', 'Passthrough'), default: 'Terminate' },
    options: annotations(16),
  }),
  rule(
    'certificateRefs or options must be specified when mode is Terminate',
    "self.mode != 'Terminate' || (has(self.certificateRefs) && size(self.certificateRefs) > 0) || (has(self.options) && size(self.options) > 0)",
  ),
)

const protocol = text(
  255,
  1,
  '^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9]+$',
)

const listener = object({ allowedRoutes, hostname, name: sectionName, port: portNumber, protocol, tls }, [
  'name',
  'port',
  'protocol',
])

export const listeners = withRules(
  { ...keyedList(listener, 64, 'name'), minItems: 1 },
  rule(
    "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
    "self.all(l, !(l.protocol in ['HTTP', 'TCP', 'UDP']) || !has(l.tls))",
  ),
  rule(
    'tls mode must be Terminate for protocol HTTPS',
    "self.all(l, l.protocol != 'HTTPS' || !has(l.tls) || l.tls.mode == 'Terminate')",
  ),
  rule(
    "hostname must not be specified for protocols ['TCP', 'UDP']",
    "self.all(l, !(l.protocol in ['TCP', 'UDP']) || !has(l.hostname))",
  ),
  rule('Listener name must be unique within the Gateway', 'self.all(a, self.exists_one(b, a.name == b.name))'),
  rule(
    'Combination of port, protocol and hostname must be unique for each listener',
    "self.all(a, self.exists_one(b, a.port == b.port && a.protocol == b.protocol && (has(a.hostname) ? a.hostname : '') == (has(b.hostname) ? b.hostname : '')))",
  ),
)

const spec = object(
  {
    gatewayClassName: objectName,
    listeners,
    addresses: requestedAddresses,
    allowedListeners: object({
      namespaces: {
        ...object({ from: { ...choice('All', 'Selector', 'Same', 'None'), default: 'None' }, selector }),
        default: { from: 'None' },
      },
    }),
    infrastructure: object({
      annotations: withKeyRules(annotations(8), 'Annotation'),
      labels: withKeyRules({ type: 'object', maxProperties: 8, additionalProperties: labelValue }, 'Label'),
      parametersRef: object({ group, kind: kindName, name: text(253) }, ['group', 'kind', 'name']),
    }),
  },
  ['gatewayClassName', 'listeners'],
)

export const listenerStatuses = keyedList(
  object(
    {
      attachedRoutes: { type: 'integer', format: 'int32' },
      conditions,
      name: sectionName,
      supportedKinds: atomicList(routeKind, 8),
    },
    ['attachedRoutes', 'conditions', 'name'],
  ),
  64,
  'name',
)

const status: Schema = {
  ...object({
    addresses: assignedAddresses,
    attachedListenerSets: { type: 'integer', format: 'int32' },
    conditions: { ...conditions, default: pendingConditions('Accepted', 'Programmed') },
    listeners: listenerStatuses,
  }),
  default: { conditions: pendingConditions('Accepted', 'Programmed') },
}

export const gatewayDefinition = definition({
  kind: 'Gateway',
  plural: 'gateways',
  shortNames: ['gtw'],
  scope: 'Namespaced',
  versions: ['v1', 'v1beta1'],
  spec,
  status,
  columns: [
    column('Class', '.spec.gatewayClassName'),
    column('Address', '.status.addresses[*].value'),
    conditionColumn('Programmed'),
    ageColumn,
  ],
})
