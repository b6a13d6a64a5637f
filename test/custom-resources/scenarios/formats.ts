// Formats of strings, with values that match and values that do not.
import { definition, objectSchema, version, widgetsOf, type Scenario } from '../scenario.ts'

/** Names of formats with two values: one that matches, one that does not. */
const samples: Readonly<Record<string, readonly string[]>> = {
  bsonobjectid: ['507f1f77bcf86cd799439011', '507f1f77'],
  byte: ['YWJj', '===', 'YWJj='],
  cidr: ['10.0.0.0/8', '2001:db8::/32', '10.0.0.0', '10.0.0.0/33', '10.0.0.1/8', '010.0.0.0/8'],
  creditcard: ['4111111111111111', '1234'],
  date: ['2024-02-29', '2023-02-29', '2024-1-1'],
  datetime: ['2024-01-01T00:00:00Z', '2024-01-01'],
  'date-time': [
    '2024-01-01T00:00:00Z',
    '2024-01-01T00:00:00.123+02:00',
    '2024-01-01 00:00:00',
    '2024-13-01T00:00:00Z',
    '2024-01-01T00:00:00',
    '2024-01-01t00:00:00z',
  ],
  duration: ['1h30m', '5 days', '90', '1w', '', '1h 5m', '-3s', '3 us'],
  email: ['a@example.com', 'a@b', 'Name <a@example.com>', 'nonsense'],
  hexcolor: ['#ffffff', '#fff', 'ffffff', '#ggg'],
  hostname: ['example.com', 'a_b.example.com', '-a', 'a.', 'a'.repeat(64)],
  ipv4: ['10.0.0.1', '10.0.0.256', '::1', '010.0.0.1'],
  ipv6: ['::1', '2001:db8::1', '10.0.0.1', '::g', '::ffff:10.0.0.1'],
  isbn: ['978-0-306-40615-7', '0-306-40615-2', '123'],
  isbn10: ['0306406152', '0306406153'],
  isbn13: ['9780306406157', '9780306406158'],
  'k8s-long-name': ['a.b-c', 'A.b', 'a..b'],
  'k8s-short-name': ['a-b', 'a.b', 'A', '-a'],
  mac: ['00:00:5e:00:53:01', '00-00-5e-00-53-01', '0000.5e00.5301', '00:00'],
  password: ['anything', ''],
  rgbcolor: ['rgb(255, 0, 10)', 'rgb(256,0,0)', 'rgb(1,2)'],
  ssn: ['123-45-6789', '123456789', '123'],
  uri: ['https://example.com/a?b#c', '/relative', 'nonsense', 'mailto:a@b', 'http://[::1'],
  uuid: ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '6BA7B8109DAD11D180B400C04FD430C8', '6ba7b810'],
  uuid3: ['6ba7b810-9dad-31d1-80b4-00c04fd430c8', '6ba7b810-9dad-41d1-80b4-00c04fd430c8'],
  uuid4: ['6ba7b810-9dad-41d1-80b4-00c04fd430c8', '6ba7b810-9dad-31d1-80b4-00c04fd430c8'],
  uuid5: ['6ba7b810-9dad-51d1-80b4-00c04fd430c8', '6ba7b810-9dad-31d1-80b4-00c04fd430c8'],
  unknown: ['anything'],
}

const fieldOf = (format: string) => format.replaceAll('-', '_')
const widgets = widgetsOf('formats.example.com')
const properties = Object.fromEntries(
  Object.keys(samples).map((format) => [fieldOf(format), { type: 'string', format }]),
)

export const formats: readonly Scenario[] = [
  {
    name: 'every format',
    definitions: [definition(widgets.group, [version(objectSchema(properties))])],
    steps: Object.entries(samples).flatMap(([format, values]) =>
      values.map((value) =>
        widgets.create(
          'w',
          { [fieldOf(format)]: value },
          { path: `${widgets.list}?dryRun=All&fieldManager=${fieldOf(format)}` },
        ),
      ),
    ),
  },
]
