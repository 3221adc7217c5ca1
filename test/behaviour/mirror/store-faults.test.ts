import { storeFaultTests } from '../../support/assert/store-fault-tests.js'
import { ObjectStore } from '../../support/fakes/object-store.js'

/** With a server of others: moto.test.ts. */
storeFaultTests('a mirror in an object store behind a faulty network', () => ObjectStore.open())
