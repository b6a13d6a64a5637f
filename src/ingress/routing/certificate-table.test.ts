import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { CertificateTable } from './certificate-table.ts'

const own = (order: string, ...names: readonly string[]) => ({
  order,
  names: new Map(names.map((name) => [name, { certificate: order, key: '' }])),
})

test('a name has the certificate of the object that comes first, however the objects arrive', () => {
  for (const arrival of ['123', '132', '213', '231', '312', '321']) {
    const table = new CertificateTable()
    const certificate = () => table.get('a.com')?.certificate
    for (const order of arrival) table.replace(`object ${order}`, own(order, 'a.com', `${order}.com`))
    equal(certificate(), '1')
    table.replace('object 1', own('1', 'b.com'))
    equal([certificate(), table.get('b.com')?.certificate, table.get('1.com')].join(), '2,1,')
    table.replace('object 2', undefined)
    equal(certificate(), '3')
    table.replace('object 3', own('3'))
    equal(certificate(), undefined)
  }
})
