"""Who is compared with the champion, by the name that the command line takes.

Each is made by a call, so that a library is imported only for who uses it.
"""

from collections.abc import Callable, Mapping

from benchmarks.peers.gocrane_fft import CarriedFFT, GocraneFFT
from benchmarks.peers.mlforecast_peer import MLForecastPeer
from benchmarks.peers.statsforecast_peers import auto_ets, auto_theta
from models.persistence import Persistence, persistence_over_all_history
from models.prophet import ProphetCarried
from models.protocol import Model

PEERS: Mapping[str, Callable[[], Model]] = {
    "persistence": Persistence,
    "persistence-all": persistence_over_all_history,
    "prophet": lambda: ProphetCarried(name="Prophet, residual carried"),
    "mlforecast": MLForecastPeer,
    "autoets": auto_ets,
    "autotheta": auto_theta,
    "fft": GocraneFFT,
    "fft-carried": CarriedFFT,
}
