import { describe, expect, it } from 'vitest'
import { compileCondition } from '../../../src/identity/did-query/compile.js'
import type { Members } from '../../../src/identity/did-query/member-path.js'
import { claiming, credential, document, service, serving } from '../../support/builders/query-documents.js'

/** What is shown, the condition, a document that it matches and one that it does not; undefined where there is none. */
type Row = readonly [
  what: string,
  condition: string | object,
  matching: Members | undefined,
  other: Members | undefined,
]

const profile = (claims: Members) => credential(['ProfileCredential'], claims)
const withCredentials = (...verifiableCredential: Members[]) => document({ verifiableCredential })
const withServices = (...services: Members[]) => document({ service: services })
/** A condition on the claim x, and one on the member x of a service. */
const claim = (value: unknown) => ({ credential: { subject: { x: value } } })
const member = (value: unknown) => ({ service: { x: value } })

const texts: readonly Row[] = [
  ['JSON', '{"service": {"type": "Hub"}}', withServices(service('Hub')), withServices(service('Mail'))],
  ['JSON5', "{service: {type: 'Hub',}, /* any */ }", withServices(service('Hub')), withServices(service('Mail'))],
  ['an object', { service: { type: 'Hub' } }, withServices(service('Hub')), withServices(service('Mail'))],
  ['{} matches every document', '{}', document(), undefined],
  [
    'the example of the interface',
    '{credential:{type:["ProfileCredential"],subject:{email:{$exists:true}}}}',
    withCredentials(profile({ email: 'ada@example.org' })),
    withCredentials(profile({ name: 'Ada' }), credential(['EmailCredential'], { email: 'ada@example.org' })),
  ],
]

const normalised: readonly Row[] = [
  ['ids are full', { 'publicKey.id': document()['id'] + '#primary' }, document(), undefined],
  ['no id is a fragment alone', { 'publicKey.id': '#primary' }, undefined, document()],
  ['defaults are there', { publicKey: { type: 'ECDSAsecp256r1' } }, document(), undefined],
]

const aliases: readonly Row[] = [
  ['credential', { credential: { type: 'T' } }, claiming({}), serving({})],
  [
    'the name of the document',
    { verifiableCredential: { credentialSubject: { x: 1 } } },
    claiming({ x: 1 }),
    claiming({}),
  ],
  ['both mixed', { verifiableCredential: { subject: { x: 1 } } }, claiming({ x: 1 }), claiming({})],
  ['in dotted keys', { 'credential.subject.x': 1 }, claiming({ x: 1 }), claiming({ x: 2 })],
  ['behind an index', { 'credential.0.subject.x': 1 }, claiming({ x: 1 }), claiming({ x: 2 })],
  ['in $elemMatch', { credential: { $elemMatch: { 'subject.x': 1 } } }, claiming({ x: 1 }), claiming({ x: 2 })],
  ['in $not', { credential: { $not: { subject: { x: 1 } } } }, claiming({ x: 2 }), claiming({ x: 1 })],
  ['in an array', { credential: [{ subject: { x: 1 } }] }, claiming({ x: 1 }), claiming({ x: 2 })],
  [
    'not where the document has a member of that name',
    { credential: { type: 'T' } },
    { ...document(), credential: { type: 'T' } },
    { ...claiming({}), credential: [] },
  ],
  [
    'not where the credential has one',
    { 'credential.subject': 'x' },
    withCredentials(credential(['T'], {}, { subject: 'x' })),
    withCredentials(credential(['T'], {}, { subject: 'y', credentialSubject: 'x' })),
  ],
  [
    'subject outside of a credential means itself',
    { 'service.subject': 'x' },
    serving({ subject: 'x' }),
    claiming({ x: 'x' }),
  ],
  [
    'credential below the top means itself',
    member({ credential: 1 }),
    serving({ x: { credential: 1 } }),
    serving({ x: { verifiableCredential: 1 } }),
  ],
]

const patterns: readonly Row[] = [
  [
    'one object satisfies all members',
    { service: { type: 'Hub', x: 1 } },
    withServices(service('Mail'), service('Hub', { x: 1 })),
    withServices(service('Hub', { x: 2 }), service('Mail', { x: 1 })),
  ],
  [
    'an object that is not in an array',
    claim({ y: 1, z: 2 }),
    claiming({ x: { y: 1, z: 2 } }),
    claiming({ x: { y: 1 } }),
  ],
  ['arrays in arrays are transparent', claim({ y: 1 }), claiming({ x: [[], [{ y: 1 }]] }), claiming({ x: [[1]] })],
  ['further members do not matter', { proof: { type: 'ECDSAsecp256r1' } }, document(), { id: 'x' }],
  ['an empty pattern is any object', { service: {} }, serving({}), document()],
  ['an empty pattern is no scalar', { expires: {} }, undefined, document()],
  ['a pattern needs an object even for what is missing', member({ y: null }), serving({ x: {} }), serving({})],
  [
    'dotted keys inside a pattern',
    { credential: { type: 'T', 'subject.x.y': 1 } },
    claiming({ x: { y: 1 } }),
    claiming({ x: { y: 2 } }),
  ],
]

const values: readonly Row[] = [
  [
    'an array contains all',
    { credential: { type: ['A', 'B'] } },
    withCredentials(credential(['A', 'B', 'C'])),
    withCredentials(credential(['A']), credential(['B'])),
  ],
  ['an array is not met by a scalar', { service: { type: ['Hub'] } }, undefined, withServices(service('Hub'))],
  ['[] matches any present array', { credential: [] }, document({ verifiableCredential: [] }), document()],
  ['[] matches no scalar', { expires: [] }, undefined, document()],
  [
    'contains objects by pattern',
    { service: [{ type: 'A' }, { type: 'B' }] },
    withServices(service('B'), service('A')),
    withServices(service('A')),
  ],
  ['contains arrays that contain', claim([['a']]), claiming({ x: [['b', 'a'], 1] }), claiming({ x: ['a'] })],
  ['contains null', claim([null]), claiming({ x: [null] }), claiming({ x: [0] })],
  ['contains what operators accept', claim([{ $gt: 5 }, { $lt: 3 }]), claiming({ x: [1, 9] }), claiming({ x: [1, 4] })],
  ['a scalar is equal', claim('a'), claiming({ x: 'a' }), claiming({ x: 'A' })],
  ['a scalar is in an array', claim('a'), claiming({ x: ['b', 'a'] }), claiming({ x: [['a']] })],
  ['no text is a number', claim('1'), claiming({ x: '1' }), claiming({ x: 1 })],
  ['no number is a boolean', claim(1), claiming({ x: 1 }), claiming({ x: true })],
  ['null is null', claim(null), claiming({ x: null }), claiming({ x: 0 })],
  ['null is missing', claim(null), claiming({}), claiming({ x: false })],
  ['null is in an array', claim(null), claiming({ x: [null] }), claiming({ x: [] })],
]

const operators: readonly Row[] = [
  ['$eq scalar', claim({ $eq: 1 }), claiming({ x: [2, 1] }), claiming({ x: 2 })],
  ['$eq null', claim({ $eq: null }), claiming({}), claiming({ x: 1 })],
  [
    '$eq is deep and strict',
    claim({ $eq: { a: 1, b: [2] } }),
    claiming({ x: { b: [2], a: 1 } }),
    claiming({ x: { a: 1, b: [2], c: 3 } }),
  ],
  [
    '$eq misses a member',
    claim({ $eq: { a: 1, b: 2 } }),
    claiming({ x: [{ a: 1, b: 2 }] }),
    claiming({ x: { a: 1, c: 2 } }),
  ],
  ['$eq array is the whole array', claim({ $eq: [1, 2] }), claiming({ x: [1, 2] }), claiming({ x: [2, 1] })],
  ['$eq array length', claim({ $eq: [1] }), claiming({ x: [[1]] }), claiming({ x: [1, 2] })],
  ['$ne', claim({ $ne: 1 }), claiming({ x: 2 }), claiming({ x: [1, 2] })],
  ['$ne of what is missing', claim({ $ne: null }), claiming({ x: 0 }), claiming({})],
  ['$gt number', claim({ $gt: 5 }), claiming({ x: 6 }), claiming({ x: 5 })],
  ['$gt compares no text with a number', claim({ $gt: 5 }), claiming({ x: [9] }), claiming({ x: '9' })],
  ['$gte', claim({ $gte: 5 }), claiming({ x: 5 }), claiming({ x: 4 })],
  ['$lt text', { expires: { $lt: '2031' } }, document(), { ...document(), expires: '2031-01-01T00:00:00Z' }],
  ['$lt compares no number with text', claim({ $lt: '9' }), claiming({ x: '5' }), claiming({ x: 5 })],
  ['$lte', claim({ $lte: 5 }), claiming({ x: 5 }), claiming({ x: null })],
  ['two bounds', claim({ $gte: 1, $lt: 3 }), claiming({ x: 1 }), claiming({ x: 3 })],
  ['$in', claim({ $in: ['a', 1] }), claiming({ x: [1] }), claiming({ x: '1' })],
  ['$in null', claim({ $in: [null] }), claiming({}), claiming({ x: 1 })],
  ['$in objects', claim({ $in: [{ y: 1 }] }), claiming({ x: { y: 1 } }), claiming({ x: { y: 1, z: 1 } })],
  ['$in nothing', claim({ $in: [] }), undefined, claiming({ x: 1 })],
  ['$nin', claim({ $nin: ['a', 1] }), claiming({ x: 2 }), claiming({ x: ['b', 'a'] })],
  ['$exists', claim({ $exists: true }), claiming({ x: null }), claiming({})],
  ['$exists false', claim({ $exists: false }), claiming({}), claiming({ x: false })],
  ['$exists of an inherited name', { 'service.toString': { $exists: true } }, serving({ toString: 1 }), serving({})],
  ['$type string', claim({ $type: 'string' }), claiming({ x: 'a' }), claiming({ x: 1 })],
  ['$type number', claim({ $type: 'number' }), claiming({ x: ['a', 1] }), claiming({ x: '1' })],
  ['$type bool', claim({ $type: 'bool' }), claiming({ x: false }), claiming({ x: 0 })],
  ['$type null', claim({ $type: 'null' }), claiming({ x: null }), claiming({})],
  ['$type object', claim({ $type: 'object' }), claiming({ x: [{}] }), claiming({ x: [[]] })],
  ['$type array', claim({ $type: 'array' }), claiming({ x: [] }), claiming({ x: {} })],
  ['$type one of', claim({ $type: ['string', 'bool'] }), claiming({ x: true }), claiming({ x: 1 })],
  ['$size', { service: { $size: 2 } }, withServices(service('A'), service('B')), withServices(service('A'))],
  ['$size of what is no array', claim({ $size: 1 }), claiming({ x: ['a'] }), claiming({ x: 'a' })],
  ['$all', claim({ $all: ['a', 'b'] }), claiming({ x: ['b', 'c', 'a'] }), claiming({ x: ['a'] })],
  ['$all of one', claim({ $all: ['a'] }), claiming({ x: 'a' }), claiming({ x: 'b' })],
  ['$all of nothing', claim({ $all: [] }), undefined, claiming({ x: [] })],
  [
    '$all with $elemMatch',
    { service: { $all: [{ $elemMatch: { type: 'A', x: 1 } }, { $elemMatch: { type: 'B' } }] } },
    withServices(service('A', { x: 1 }), service('B')),
    withServices(service('A'), service('B', { x: 1 })),
  ],
  [
    '$elemMatch members',
    { service: { $elemMatch: { type: 'A', x: 1 } } },
    withServices(service('A', { x: 1 })),
    withServices(service('A'), service('B', { x: 1 })),
  ],
  ['$elemMatch operators', claim({ $elemMatch: { $gt: 1, $lt: 5 } }), claiming({ x: [0, 3] }), claiming({ x: [0, 9] })],
  ['$elemMatch needs an array', claim({ $elemMatch: { $gt: 1 } }), claiming({ x: [2] }), claiming({ x: 2 })],
  ['$not', claim({ $not: { $gt: 5 } }), claiming({ x: 'a' }), claiming({ x: [1, 9] })],
  [
    '$not of a pattern',
    { service: { $not: { type: 'A' } } },
    withServices(service('B')),
    withServices(service('B'), service('A')),
  ],
  ['$mod', claim({ $mod: [4, 1] }), claiming({ x: 9 }), claiming({ x: 8 })],
  ['$mod of a fraction', claim({ $mod: [2, 0] }), claiming({ x: 4.5 }), claiming({ x: '4' })],
  [
    '$and of documents',
    { $and: [{ 'service.type': 'A' }, { 'service.x': 1 }] },
    withServices(service('A'), service('B', { x: 1 })),
    withServices(service('A')),
  ],
  ['$or of documents', { $or: [{ 'service.type': 'A' }, { credential: [] }] }, claiming({}), serving({})],
  ['$nor of documents', { $nor: [{ 'service.type': 'A' }, { credential: [] }] }, serving({}), claiming({})],
  [
    '$and beside $or',
    { $and: [{ service: {} }], $or: [{ 'service.x': 1 }, { 'service.x': 2 }] },
    serving({ x: 2 }),
    serving({ x: 3 }),
  ],
  [
    '$and at a path',
    { service: { $and: [{ type: 'A' }, { x: 1 }] } },
    withServices(service('A'), service('B', { x: 1 })),
    withServices(service('B', { x: 1 })),
  ],
  ['$or at a path', claim({ $or: [{ $lt: 1 }, { $gt: 5 }] }), claiming({ x: 0 }), claiming({ x: 3 })],
  ['$nor at a path', claim({ $nor: [{ $lt: 1 }, { $gt: 5 }] }), claiming({ x: 3 }), claiming({ x: [3, 9] })],
]

const dotted: readonly Row[] = [
  [
    'two dotted keys may be met by different elements',
    { 'service.type': 'A', 'service.x': 1 },
    withServices(service('A', { x: 2 }), service('B', { x: 1 })),
    withServices(service('A', { x: 2 })),
  ],
  [
    'an index',
    { 'service.1.type': 'B' },
    withServices(service('A'), service('B')),
    withServices(service('B'), service('A')),
  ],
  [
    'an index at the end',
    { 'authentication.0': { $regex: '#primary$' } },
    document(),
    { authentication: ['#recovery', '#primary'] },
  ],
  [
    'an index beyond the end',
    { 'service.1': { $exists: false } },
    serving({}),
    withServices(service('A'), service('B')),
  ],
  ['a number as a name', { 'service.x.0': 'a' }, serving({ x: { 0: 'a' } }), serving({ x: { 1: 'a' } })],
  [
    'a number as a name in an array',
    { 'service.x.7': 'a' },
    serving({ x: [{ 7: 'a' }] }),
    serving({ x: [{ 8: 'a' }] }),
  ],
  [
    'an array in an array is not entered',
    { 'service.x.y': 1 },
    serving({ x: [{ y: 1 }] }),
    serving({ x: [[{ y: 1 }]] }),
  ],
  ['through an index it is', { 'service.x.0.y': 1 }, serving({ x: [[{ y: 1 }]] }), serving({ x: [[], [{ y: 1 }]] })],
  ['null in the middle of a path', { 'service.x.y': null }, serving({ x: 4 }), serving({ x: { y: 1 } })],
  [
    'one element without the member',
    { 'service.x': null },
    withServices(service('A'), service('B', { x: 1 })),
    serving({ x: 1 }),
  ],
  ['null beyond the end', { 'service.1.x': null }, serving({}), withServices(service('A'), service('B', { x: 1 }))],
  ['an empty array has no such element', { 'service.x.y': null }, serving({ x: [{}] }), serving({ x: [] })],
  [
    'a pattern behind a dotted key',
    { 'credential.subject': { x: 1, y: 2 } },
    claiming({ x: 1, y: 2 }),
    withCredentials(profile({ x: 1 }), credential(['T'], { y: 2 })),
  ],
]

const regex: readonly Row[] = [
  ['a part', claim({ $regex: 'da' }), claiming({ x: 'Ada L' }), claiming({ x: 'Bob' })],
  ['the beginning', claim({ $regex: '^Ada' }), claiming({ x: ['x', 'Ada L'] }), claiming({ x: 'L Ada' })],
  ['the end', claim({ $regex: 'Ada$' }), claiming({ x: 'L Ada' }), claiming({ x: 'Ada L' })],
  ['the whole', claim({ $regex: '^Ada$' }), claiming({ x: 'Ada' }), claiming({ x: 'Ada ' })],
  ['no text at all', claim({ $regex: '^$' }), claiming({ x: '' }), claiming({ x: 'a' })],
  ['any text', claim({ $regex: '' }), claiming({ x: 'a' }), claiming({ x: 1 })],
  ['escaped characters', claim({ $regex: 'r\\. \\(A\\)' }), claiming({ x: 'Dr. (A) L' }), claiming({ x: 'Dr, (A)' })],
  ['an escaped end', claim({ $regex: '^5\\$' }), claiming({ x: '5$ each' }), claiming({ x: '5' })],
  ['an escaped \\ before the end', claim({ $regex: 'a\\\\$' }), claiming({ x: 'xa\\' }), claiming({ x: 'a\\$' })],
  ['an escaped beginning', claim({ $regex: '^\\^a' }), claiming({ x: '^ab' }), claiming({ x: 'ab' })],
  ['any escaped case', claim({ $regex: 'R\\.', $options: 'i' }), claiming({ x: 'Dr.' }), claiming({ x: 'Dr' })],
  ['case counts', claim({ $regex: 'ada' }), claiming({ x: 'ada' }), claiming({ x: 'ADA' })],
  ['with no options too', claim({ $regex: 'ada', $options: '' }), claiming({ x: 'ada' }), claiming({ x: 'ADA' })],
  ['with u and s too', claim({ $regex: 'ada', $options: 'us' }), claiming({ x: 'ada' }), claiming({ x: 'ADA' })],
  [
    'with i beside them it does not',
    claim({ $regex: 'ada', $options: 'siu' }),
    claiming({ x: 'ADA' }),
    claiming({ x: 'ad' }),
  ],
  ['with i it does not', claim({ $regex: '^ÄDA$', $options: 'i' }), claiming({ x: 'äda' }), claiming({ x: 'ada' })],
  [
    'whatever stands around a letter',
    claim({ $regex: 'ΑΣ', $options: 'i' }),
    claiming({ x: 'ασα' }),
    claiming({ x: 'αα' }),
  ],
  ['beside another operator', claim({ $regex: 'a', $ne: 'a' }), claiming({ x: 'ab' }), claiming({ x: 'a' })],
]

describe.each([
  ['rule 1: text', texts],
  ['rule 2: normalised documents', normalised],
  ['rule 3: aliases', aliases],
  ['rule 4: patterns', patterns],
  ['rule 5: arrays and scalars', values],
  ['rule 6: operators', operators],
  ['rule 7: dotted keys', dotted],
  ['rule 8: $regex', regex],
] as const)('%s', (_, rows) => {
  it.each(rows)('%s', (_what, condition, matching, other) => {
    const { matches } = compileCondition(condition)
    if (matching !== undefined) expect(matches(matching)).toBe(true)
    if (other !== undefined) expect(matches(other)).toBe(false)
  })
})
