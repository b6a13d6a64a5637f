// The schemas of the addresses that a Gateway requests and that it has.
import { atomicList, hostnamePattern, object, rule, subdomain, text, withRules, type Schema } from './schema-parts.ts'

const addressType = {
  ...text(253, 1, `^Hostname|IPAddress|NamedAddress|${subdomain}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`),
  default: 'IPAddress',
} as const

/** Addresses of type IPAddress are those of IPv4 and IPv6. */
const withAddressFormat = (schema: Schema): Schema => ({
  ...schema,
  oneOf: [
    {
      properties: { type: { enum: ['IPAddress'] }, value: { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] } },
    },
    { properties: { type: { not: { enum: ['IPAddress'] } } } },
  ],
})

const requestedAddress = withRules(
  withAddressFormat(object({ type: addressType, value: text(253, 0) })),
  rule(
    `Hostname value must be empty or contain only valid characters (matching ${hostnamePattern})`,
    `self.type != 'Hostname' || !has(self.value) || self.value.matches(r"""${hostnamePattern}""")`,
  ),
)

const assignedAddress = withRules(
  withAddressFormat(object({ type: addressType, value: text(253) }, ['value'])),
  rule(
    `Hostname value must only contain valid characters (matching ${hostnamePattern})`,
    `self.type != 'Hostname' || self.value.matches(r"""${hostnamePattern}""")`,
  ),
)

const uniqueAddresses = (type: string) =>
  rule(
    `${type} values must be unique`,
    `self.all(a, a.type != '${type}' || !has(a.value) || self.exists_one(b, b.type == a.type && has(b.value) && b.value == a.value))`,
  )

export const requestedAddresses = withRules(
  atomicList(requestedAddress, 16),
  uniqueAddresses('IPAddress'),
  uniqueAddresses('Hostname'),
)
export const assignedAddresses = atomicList(assignedAddress, 16)
