"""Auto Scaling groups on moto's server: AWS over real HTTP, without AWS.

moto starts and removes instances at once and honours scale-in protection. It knows no instance that
is still starting, and refuses no size beyond the group's limits.
"""

from dataclasses import dataclass
from typing import Any

from actuator.backends.aws_asg import connect

REGION = "eu-central-1"
FAKE_KEYS = {"aws_access_key_id": "fake", "aws_secret_access_key": "fake"}


def connected(endpoint: str, region: str | None, timeout_seconds: float = 60.0) -> Any:
    """A client of the back end's own making that asks this endpoint."""
    return connect(region or REGION, timeout_seconds, endpoint_url=endpoint, **FAKE_KEYS)


@dataclass(frozen=True)
class FakeGroup:
    """One group, looked at from outside the back end."""

    client: Any
    name: str

    @classmethod
    def create(cls, client: Any, name: str, nodes: int, most: int = 10) -> "FakeGroup":
        """A group with so many instances."""
        if not client.describe_launch_configurations()["LaunchConfigurations"]:
            client.create_launch_configuration(
                LaunchConfigurationName="gpu",
                ImageId="ami-12c6146b",
                InstanceType="p4d.24xlarge",
            )
        client.create_auto_scaling_group(
            AutoScalingGroupName=name,
            LaunchConfigurationName="gpu",
            MinSize=0,
            MaxSize=most,
            DesiredCapacity=nodes,
            AvailabilityZones=[f"{REGION}a"],
        )
        return cls(client, name)

    @property
    def described(self) -> dict[str, Any]:
        """What the API says of it."""
        groups = self.client.describe_auto_scaling_groups(AutoScalingGroupNames=[self.name])
        found: dict[str, Any] = groups["AutoScalingGroups"][0]
        return found

    @property
    def desired(self) -> int:
        """Its desired capacity."""
        return int(self.described["DesiredCapacity"])

    @property
    def instances(self) -> list[str]:
        """Its instances."""
        return sorted(one["InstanceId"] for one in self.described["Instances"])

    @property
    def protected(self) -> list[str]:
        """Its instances that may not be removed."""
        return sorted(
            one["InstanceId"] for one in self.described["Instances"] if one["ProtectedFromScaleIn"]
        )

    def set_desired(self, nodes: int) -> None:
        """As a person would."""
        self.client.set_desired_capacity(AutoScalingGroupName=self.name, DesiredCapacity=nodes)
